/** Search: looks up the possible meanings of a text and shows those that exist. */
import { useEffect, useState } from 'preact/hooks';
import { useAccountFacts } from '../account/account-facts.ts';
import type { Block, Transaction } from '../asking/answers.ts';
import { ApiFailure } from '../asking/api-client.ts';
import { type Asked, useAnswer, useWork } from '../asking/ask.tsx';
import { digitsOf, hasIndexer, indexerRequest, useGraph } from '../asking/indexer.ts';
import { useRecoveries } from '../asking/live-ledger.ts';
import { findNamed, type Named } from '../asking/names.ts';
import { blockRequest, transactionRequest } from '../asking/requests.ts';
import { replaceWith } from '../navigation.ts';
import { groupDigits, timeText } from '../parts/number-text.ts';
import { announce, Failure, Waiting } from '../parts/parts.tsx';
import { linkTo, parameter, readSearch } from '../route.ts';
import { SEARCH_HINT } from '../search-box.tsx';
import { calledFunction, kindText } from '../transactions/summary.ts';

export function SearchView() {
  const term = readSearch(parameter('q'));
  if (term?.kind === 'number') return <Numbers digits={term.digits} />;
  if (term?.kind === 'hex') return <Hexes {...term} />;
  if (term?.kind === 'word') return <Words word={term.word} />;
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
  /** A description of the result, or why it is unknown. */
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

/** Goes to the only result and replaces the search in the browser's history. */
function useSingle(paths: readonly string[] | undefined): void {
  const [target] = paths?.length === 1 ? paths : [];
  useEffect(() => {
    if (target !== undefined) replaceWith(target);
  }, [target]);
}

function Words({ word }: { word: string }) {
  const [found, setFound] = useState<readonly Named[]>();
  const [failure, setFailure] = useState<unknown>();
  const recoveries = useRecoveries();
  useWork(
    async (signal) => {
      setFailure(undefined);
      try {
        const named = await findNamed(word, signal);
        setFound(named);
      } catch (error) {
        signal.throwIfAborted();
        setFailure(error);
      }
    },
    [word, recoveries],
  );
  const isNamed = ({ name }: Named) =>
    name.split('::').at(-1) === word || name.endsWith(`::${word}`);
  const exact = found?.filter(isNamed) ?? [];
  useSingle((exact.length === 1 ? exact : found)?.map(({ path }) => path));
  if (failure !== undefined) return <Failure title="No names" error={failure} />;
  if (found === undefined) return <Waiting />;
  if (found.length === 0) {
    return (
      <p class="note">
        Nothing that has a name here has this word in it: no module, function or type of the
        framework{hasIndexer && ', no asset and no collection'}.
      </p>
    );
  }
  return (
    <ul class="hits">
      {found.map(({ name, kind, path }) => (
        <li key={`${kind} ${name}`} class="hit exists">
          <a href={path}>{name}</a> <span class="hint">{kind}</span>
        </li>
      ))}
    </ul>
  );
}

const HASH_QUERY = `query Hash($hash: String) {
  block_metadata_transactions(where: { id: { _eq: $hash } }, limit: 1) { block_height }
  table_metadatas(where: { handle: { _eq: $hash } }, limit: 1) { key_type value_type }
}`;

interface HashAnswer {
  readonly block_metadata_transactions: readonly { readonly block_height: unknown }[];
  readonly table_metadatas: readonly { readonly key_type: string; readonly value_type: string }[];
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
  const indexed = useGraph<HashAnswer>(
    isHash ? indexerRequest(HASH_QUERY, { hash: hex }) : undefined,
  );
  const height = digitsOf(indexed.data?.block_metadata_transactions[0]?.block_height ?? '');
  const table = indexed.data?.table_metadatas[0];
  if (height !== '') {
    const said = `at height ${groupDigits(height)}`;
    hits.push({ name: 'Block', state: 'exists', href: linkTo('block', { height }), said });
  }
  if (table !== undefined) {
    const said = `from ${table.key_type} to ${table.value_type}`;
    hits.push({ name: 'Table', state: 'exists', href: linkTo('table', { handle: hex }), said });
  }
  const found = hits.filter(({ state }) => state === 'exists');
  const isIndexed = !isHash || indexed.isMissing || indexed.data !== undefined;
  const isDone = isIndexed && hits.every(({ state }) => state === 'exists' || state === 'absent');
  useSingle(isDone ? found.map(({ href: path }) => path) : undefined);
  const note = 'Block or table: not known, without an indexer this node cannot look them up';
  return <Hits hits={hits} {...(isHash && indexed.isMissing && { note })} />;
}
