/** Search: what a text may be is looked up, and what exists is shown. */
import { useEffect } from 'preact/hooks';
import { useAccountFacts } from '../account-facts.ts';
import type { Block, Transaction } from '../answers.ts';
import { ApiFailure } from '../api-client.ts';
import { type Asked, useAnswer } from '../ask.tsx';
import { replaceWith } from '../navigation.ts';
import { groupDigits, timeText } from '../number-text.ts';
import { announce, Failure, Waiting } from '../parts.tsx';
import { blockRequest, transactionRequest } from '../requests.ts';
import { linkTo, parameter, readSearch } from '../route.ts';
import { calledFunction, kindText } from '../summary.ts';

export const SEARCH_HINT =
  'A version or a height (5044), an address or a hash (0x…), a module (0x1::coin), an item of one ' +
  '(0x1::coin::transfer), or an event stream (0x1/2).';

export function SearchView() {
  const term = readSearch(parameter('q'));
  if (term?.kind === 'number') return <Numbers digits={term.digits} />;
  if (term?.kind === 'hex') return <Hexes {...term} />;
  if (term?.kind === 'place') {
    const place = {
      name: 'Place',
      state: 'exists',
      href: linkTo(term.view, term.parameters),
      said: parameter('q'),
    } as const;
    return <Hits hits={[place]} />;
  }
  const error = new Error(`This is none of what can be looked up. ${SEARCH_HINT}`);
  return <Failure title="Nothing to look up" error={error} />;
}

const STATE_TEXTS = {
  asking: 'Asking the node…',
  exists: 'exists',
  absent: 'not on this ledger',
  unknown: 'not known',
} as const;

interface Hit {
  readonly name: string;
  readonly state: keyof typeof STATE_TEXTS;
  readonly href: string;
  /** What it is, or why that is not known. */
  readonly said: string | undefined;
}

function hitOf<T>(name: string, href: string, asked: Asked<T>, say: (json: T) => string): Hit {
  const { json, failure } = asked;
  if (json !== undefined) return { name, href, state: 'exists', said: say(json) };
  if (failure === undefined) return { name, href, state: 'asking', said: undefined };
  const isAbsent = failure instanceof ApiFailure && [400, 404].includes(failure.status);
  return { name, href, state: isAbsent ? 'absent' : 'unknown', said: (failure as Error).message };
}

function Hits({ hits, note }: { hits: readonly Hit[]; note?: string }) {
  const states = hits.map(({ state }) => state);
  const found = states.filter((state) => state === 'exists').length;
  const isDone = !states.includes('asking');
  useEffect(() => {
    if (isDone) announce(['Nothing found', 'one match'][found] ?? `${found} matches`);
  }, [isDone]);
  return (
    <>
      <ul class="hits">
        {hits.map(({ name, state, href, said }) => (
          <li key={name} class={`hit ${state}`}>
            {state === 'exists' ? <a href={href}>{name}</a> : <span>{name}</span>}{' '}
            <span class="hint">{(state === 'exists' && said) || STATE_TEXTS[state]}</span>
            {state === 'unknown' && said && <span class="hint"> ({said})</span>}
          </li>
        ))}
        {note && <li class="hit">{note}</li>}
      </ul>
      {!isDone && <Waiting />}
      {states.every((state) => state === 'absent') && (
        <p class="note">Nothing on this ledger has this name.</p>
      )}
    </>
  );
}

function transactionHit(name: string, id: string, asked: Asked<Transaction>): Hit {
  return hitOf(
    name,
    linkTo('transaction', { id }),
    asked,
    (json) => calledFunction(json) ?? `${kindText(json)} transaction`,
  );
}

function Numbers({ digits }: { digits: string }) {
  const transaction = useAnswer<Transaction>(transactionRequest(digits));
  const block = useAnswer<Block>(blockRequest(digits));
  const [version, height] = [
    `Transaction at version ${groupDigits(digits)}`,
    `Block at height ${groupDigits(digits)}`,
  ];
  const blockText = ({ block_timestamp }: Block) => timeText(BigInt(block_timestamp));
  return (
    <Hits
      hits={[
        transactionHit(version, digits, transaction),
        hitOf(height, linkTo('block', { height: digits }), block, blockText),
      ]}
    />
  );
}

function Hexes({ hex, isHash }: { hex: string; isHash: boolean }) {
  const facts = useAccountFacts(hex);
  const transaction = useAnswer<Transaction>(isHash ? transactionRequest(hex) : undefined);
  const href = linkTo('account', { address: hex });
  const hit = (name: string, is: boolean | undefined, text: string): Hit => {
    const { failure } = facts;
    if (failure !== undefined)
      return { name, href, state: 'unknown', said: (failure as Error).message };
    return {
      name,
      href,
      state: is === undefined ? 'asking' : is ? 'exists' : 'absent',
      said: text,
    };
  };
  const hits = [
    hit('Account', facts.isAccount, facts.text),
    hit('Object', facts.isObject, 'an object at this address'),
    ...(isHash ? [transactionHit('Transaction', hex, transaction)] : []),
  ];
  // One thing only: go there, and leave the search out of the way back.
  const found = hits.filter(({ state }) => state === 'exists');
  const isDone = hits.every(({ state }) => state === 'exists' || state === 'absent');
  const target = isDone && found.length === 1 ? found[0]!.href : undefined;
  useEffect(() => {
    if (target !== undefined) replaceWith(target);
  }, [target]);
  const note = 'Block: not known, this node cannot look blocks up by hash';
  return <Hits hits={hits} {...(isHash && { note })} />;
}
