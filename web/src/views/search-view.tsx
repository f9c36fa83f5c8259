/** Search: what a text may be is looked up, and what exists is shown. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useAccountFacts } from '../account-facts.ts';
import { ApiFailure } from '../api-client.ts';
import { type Asked, useAnswer } from '../ask.ts';
import { textField } from '../json-fields.ts';
import { blockRequest, transactionRequest } from '../ledger-requests.ts';
import { linkTo } from '../navigation.ts';
import { counted, groupDigits, timeText } from '../number-text.ts';
import { announce, Failure, Waiting } from '../parts.tsx';
import { readSearch } from '../route.ts';
import { calledFunction, kindText } from '../transaction-rows.tsx';
import type { ViewProps } from '../view.ts';

export const SEARCH_HINT =
  'A version or a height (5044), an address or a hash (0x…), a module (0x1::coin), an item of one ' +
  '(0x1::coin::transfer), or an event stream (0x1/2).';

export function SearchView({ parameter, version }: ViewProps) {
  const term = readSearch(parameter('q'));
  if (term?.kind === 'number') return <Numbers digits={term.digits} />;
  if (term?.kind === 'hex') return <Hexes {...term} version={version} />;
  if (term?.kind === 'place') {
    return (
      <ul class="hits">
        <Hit name="Place" state="exists" href={term.hash}>
          {parameter('q')}
        </Hit>
      </ul>
    );
  }
  const error = new Error(`This is none of what can be looked up. ${SEARCH_HINT}`);
  return <Failure title="Nothing to look up" error={error} />;
}

type State = 'asking' | 'exists' | 'absent' | 'unknown';

function stateOf({ json, failure }: Asked): State {
  if (json !== undefined) return 'exists';
  if (failure === undefined) return 'asking';
  return failure instanceof ApiFailure && [400, 404].includes(failure.status)
    ? 'absent'
    : 'unknown';
}

const STATE_TEXTS: Readonly<Record<State, string>> = {
  asking: 'Asking the node…',
  exists: 'exists',
  absent: 'not on this ledger',
  unknown: 'not known',
};

interface HitProps {
  readonly name: string;
  readonly state: State;
  readonly href?: string;
  readonly children?: ComponentChildren;
}

function Hit({ name, state, href, children }: HitProps) {
  return (
    <li class={`hit ${state}`}>
      {state === 'exists' && href !== undefined ? <a href={href}>{name}</a> : <span>{name}</span>}{' '}
      <span class="hint">{state === 'exists' && children ? children : STATE_TEXTS[state]}</span>
      {state === 'unknown' && children && <span class="hint"> ({children})</span>}
    </li>
  );
}

/** The message of a refusal that is not "not found", such as pruned history. */
function refusal({ failure }: Asked): string | undefined {
  return failure instanceof Error ? failure.message : undefined;
}

function Numbers({ digits }: { digits: string }) {
  const transaction = useAnswer(transactionRequest(digits));
  const block = useAnswer(blockRequest(digits));
  const states = [stateOf(transaction), stateOf(block)];
  useVerdict(states);
  return (
    <>
      <ul class="hits">
        <Hit
          name={`Transaction at version ${groupDigits(digits)}`}
          state={states[0]!}
          href={linkTo('transaction', { id: digits })}
        >
          {refusal(transaction) ?? transactionText(transaction)}
        </Hit>
        <Hit
          name={`Block at height ${groupDigits(digits)}`}
          state={states[1]!}
          href={linkTo('block', { height: digits })}
        >
          {refusal(block) ?? blockText(block)}
        </Hit>
      </ul>
      <Nothing states={states} />
    </>
  );
}

function transactionText({ json }: Asked): string {
  if (json === undefined) return '';
  return calledFunction(json) ?? `${kindText(json)} transaction`;
}

function blockText({ json }: Asked): string {
  const time = textField(json, 'block_timestamp');
  return time === undefined ? '' : timeText(BigInt(time));
}

interface HexesProps {
  readonly hex: string;
  readonly isHash: boolean;
  readonly version: string | undefined;
}

function Hexes({ hex, isHash, version }: HexesProps) {
  const facts = useAccountFacts(hex, version);
  const transaction = useAnswer(isHash ? transactionRequest(hex) : undefined);
  const exists = (is: boolean | undefined): State =>
    facts.failure !== undefined
      ? 'unknown'
      : is === undefined
        ? 'asking'
        : is
          ? 'exists'
          : 'absent';
  const account = exists(facts.isAccount);
  const object = exists(facts.isObject);
  const hash = isHash ? stateOf(transaction) : 'absent';
  const states = [account, object, hash];
  useVerdict(states);
  // One thing only: go there, and leave the search out of the way back.
  const only = states.filter((state) => state === 'exists').length === 1;
  useEffect(() => {
    if (!only || states.includes('asking') || states.includes('unknown')) return;
    const target =
      hash === 'exists' ? linkTo('transaction', { id: hex }) : linkTo('account', { address: hex });
    location.replace(target);
  }, [only, account, object, hash]);
  const said = facts.failure instanceof Error ? facts.failure.message : undefined;
  return (
    <>
      <ul class="hits">
        <Hit name="Account" state={account} href={linkTo('account', { address: hex })}>
          {said ?? facts.text}
        </Hit>
        <Hit name="Object" state={object} href={linkTo('account', { address: hex })}>
          {said ?? 'an object at this address'}
        </Hit>
        {isHash && (
          <Hit name="Transaction" state={hash} href={linkTo('transaction', { id: hex })}>
            {refusal(transaction) ?? transactionText(transaction)}
          </Hit>
        )}
        {isHash && (
          <li class="hit">
            Block <span class="hint">not known: this node cannot look blocks up by hash</span>
          </li>
        )}
      </ul>
      <Nothing states={states} />
    </>
  );
}

function Nothing({ states }: { states: readonly State[] }) {
  if (states.includes('asking')) return <Waiting />;
  if (states.some((state) => state !== 'absent')) return null;
  return <p class="note">Nothing on this ledger has this name.</p>;
}

function useVerdict(states: readonly State[]): void {
  const isDone = !states.includes('asking');
  const found = states.filter((state) => state === 'exists').length;
  useEffect(() => {
    if (isDone)
      announce(
        found === 0 ? 'Nothing found' : `${counted(found, 'match').replace('matchs', 'matches')}`,
      );
  }, [isDone]);
}
