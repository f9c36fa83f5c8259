/** One transaction: who sent it, what it called, how it ended, what it emitted and changed. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { JsonValue } from '../../../src/move/json/json-text.ts';
import { useAnswer } from '../ask.ts';
import { Changes } from '../changes.tsx';
import { splitFunctionName } from '../encode-request.ts';
import { AccountId, Copied, FunctionName, HeightId, Hex, Time, TransactionHash } from '../ids.tsx';
import { field, listField, textField } from '../json-fields.ts';
import { blockOfRequest, moduleRequest, transactionRequest } from '../ledger-requests.ts';
import { argumentTypes, readModuleAnswer } from '../move-abi.ts';
import { JsonField, JsonView, TypeText } from '../move-text.tsx';
import { linkTo } from '../navigation.ts';
import { amountText, groupDigits, readU64 } from '../number-text.ts';
import { CopyButton, Fact, Failure, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { kindText, Status } from '../transaction-rows.tsx';
import type { ViewProps } from '../view.ts';

/** Octas to a coin of the gas currency. */
const GAS_DECIMALS = 8;
/** Events shown before the reader asks for all. */
const EVENTS_AT_FIRST = 20;

export function TransactionView({ parameter }: ViewProps) {
  const id = parameter('id');
  const asked = useAnswer(transactionRequest(id));
  const { json, failure } = asked;
  return (
    <>
      {failure !== undefined && <Failure title="No transaction" error={failure} />}
      {json === undefined && failure === undefined && <Waiting />}
      {json !== undefined && <Transaction key={textField(json, 'hash')} transaction={json} />}
      <RequestPanel asked={asked} />
    </>
  );
}

function Transaction({ transaction }: { transaction: JsonValue }) {
  const text = (name: string) => textField(transaction, name);
  const version = text('version');
  const block = useAnswer(version === undefined ? undefined : blockOfRequest(version));
  const height = textField(block.json, 'block_height');
  const at = readU64(version ?? '');
  const sender = text('sender');
  const proposer = text('proposer');
  return (
    <>
      {at !== undefined && (
        <nav class="pager" aria-label="Transactions">
          {at > 0n && <a href={linkTo('transaction', { id: at - 1n })}>Previous version</a>}
          <a href={linkTo('transaction', { id: at + 1n })}>Next version</a>
        </nav>
      )}
      <dl class="facts">
        <Fact term="Status">
          {version === undefined ? 'pending' : <Status transaction={transaction} full />}
        </Fact>
        <Fact term="Version">
          {version && <Copied text={version}>{groupDigits(version)}</Copied>}
        </Fact>
        <Fact term="Block">{height && <HeightId height={height} />}</Fact>
        <Fact term="Time">{text('timestamp') && <Time usecs={text('timestamp')} />}</Fact>
        <Fact term="Kind">{kindText(transaction)}</Fact>
        <Fact term="Hash">{text('hash') && <TransactionHash hex={text('hash')!} full />}</Fact>
        <Fact term="Sender">{sender && <AccountId hex={sender} full />}</Fact>
        <Fact term="Proposer">{proposer && <AccountId hex={proposer} full />}</Fact>
        <Replay transaction={transaction} />
        <Gas transaction={transaction} />
        <Fact term="Expires">
          {text('expiration_timestamp_secs') && (
            <Time usecs={`${text('expiration_timestamp_secs')}000000`} />
          )}
        </Fact>
      </dl>
      <Payload payload={field(transaction, 'payload')} />
      <Signature signature={field(transaction, 'signature')} />
      <Events events={listField(transaction, 'events')} />
      {at !== undefined && <Changes changes={listField(transaction, 'changes')} version={at} />}
      <Details transaction={transaction} />
    </>
  );
}

function Replay({ transaction }: { transaction: JsonValue }) {
  const nonce = textField(transaction, 'replay_protection_nonce');
  if (nonce !== undefined) return <Fact term="Replay protection nonce">{nonce}</Fact>;
  const number = textField(transaction, 'sequence_number');
  return <Fact term="Sequence number">{number && groupDigits(number)}</Fact>;
}

function Gas({ transaction }: { transaction: JsonValue }) {
  const [used, price, most] = ['gas_used', 'gas_unit_price', 'max_gas_amount'].map((name) =>
    readU64(textField(transaction, name) ?? ''),
  );
  if (used === undefined || price === undefined || most === undefined) return null;
  return (
    <>
      <Fact term="Fee">
        <span title={`${groupDigits(used * price)} octas`}>
          {amountText(used * price, GAS_DECIMALS)} APT
        </span>{' '}
        <span class="hint">
          {groupDigits(used)} gas at {groupDigits(price)} octas
        </span>
      </Fact>
      <Fact term="Most gas allowed">{groupDigits(most)}</Fact>
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly count?: number;
  readonly children: ComponentChildren;
}

/** A part with a heading and how many things it has. */
export function Section({ title, count, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <h2>
        {title} {count !== undefined && <span class="tally">{groupDigits(count)}</span>}
      </h2>
      {children}
    </section>
  );
}

function Payload({ payload }: { payload: JsonValue | undefined }) {
  if (!(payload instanceof Map)) return null;
  const type = textField(payload, 'type')?.replaceAll('_', ' ') ?? 'payload';
  const inner = field(payload, 'transaction_payload');
  const called = textField(payload, 'function');
  const multisig = textField(payload, 'multisig_address');
  if (type === 'write set payload') return null;
  return (
    <Section title={`Payload: ${type.replace(' payload', '')}`}>
      <dl class="facts">
        <Fact term="Multisig account">{multisig && <AccountId hex={multisig} full />}</Fact>
        <Fact term="Function">
          {called && (
            <span class="copied">
              <FunctionName name={called} />
              <CopyButton label={`Copy ${called}`} text={called} icon />
            </span>
          )}
        </Fact>
        <TypeArguments payload={payload} />
        <Arguments payload={payload} called={called} />
      </dl>
      {inner instanceof Map && <Payload payload={inner} />}
      {called === undefined && multisig === undefined && (
        <details>
          <summary>As JSON</summary>
          <JsonView value={payload} />
        </details>
      )}
    </Section>
  );
}

function TypeArguments({ payload }: { payload: JsonValue }) {
  return (
    <>
      {listField(payload, 'type_arguments').map((type, at) => (
        <Fact key={String(type)} term={`Type argument T${at}`}>
          <code>
            <TypeText type={String(type)} />
          </code>
        </Fact>
      ))}
    </>
  );
}

/** The arguments with the types of their parameters. Binaries have no names of parameters. */
function Arguments({ payload, called }: { payload: JsonValue; called: string | undefined }) {
  const name = splitFunctionName(called ?? '');
  const { json } = useAnswer(name && moduleRequest(name.address, name.module));
  const declared =
    json === undefined
      ? undefined
      : readModuleAnswer(json).abi?.functions.find((one) => one.name === name!.name);
  const types =
    declared === undefined
      ? listField(field(field(payload, 'code'), 'abi'), 'params').filter(
          (type) => !/^(?:&(?:mut )?)?signer$/.test(String(type)),
        )
      : argumentTypes(declared);
  return (
    <>
      {listField(payload, 'arguments').map((value, at) => (
        <Fact key={at} term={`Argument ${at + 1}${types[at] ? `: ${types[at]}` : ''}`}>
          {types[at] === 'address' && typeof value === 'string' ? (
            <AccountId hex={value} full />
          ) : (
            <JsonField value={value} />
          )}
        </Fact>
      ))}
    </>
  );
}

function Signature({ signature }: { signature: JsonValue | undefined }) {
  if (!(signature instanceof Map)) return null;
  const type = textField(signature, 'type')?.replaceAll('_', ' ') ?? '';
  const payer = textField(signature, 'fee_payer_address');
  const secondary = listField(signature, 'secondary_signer_addresses').map(String);
  return (
    <Section title="Signature">
      <dl class="facts">
        <Fact term="Scheme">{type}</Fact>
        <Fact term="Fee payer">{payer && <AccountId hex={payer} full />}</Fact>
        {secondary.map((address) => (
          <Fact key={address} term="Secondary signer">
            <AccountId hex={address} full />
          </Fact>
        ))}
      </dl>
      <details>
        <summary>Keys and signatures</summary>
        <JsonView value={signature} />
      </details>
    </Section>
  );
}

function Events({ events }: { events: readonly JsonValue[] }) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? events : events.slice(0, EVENTS_AT_FIRST);
  return (
    <Section title="Events" count={events.length}>
      {events.length === 0 && <p class="hint">It emitted no events.</p>}
      {shown.map((event, at) => (
        <article key={at} class="item">
          <p class="event-type">
            <code>
              <TypeText type={textField(event, 'type') ?? ''} />
            </code>{' '}
            <EventPlace event={event} />
          </p>
          <JsonView value={field(event, 'data') ?? null} />
        </article>
      ))}
      {shown.length < events.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {groupDigits(events.length)} events
        </button>
      )}
    </Section>
  );
}

/** Its stream; events of modules have none. */
function EventPlace({ event }: { event: JsonValue }) {
  const guid = field(event, 'guid');
  const [account, stream] = [
    textField(guid, 'account_address'),
    textField(guid, 'creation_number'),
  ];
  const number = textField(event, 'sequence_number') ?? '0';
  if (!account || !stream || (stream === '0' && account === '0x0')) {
    return <span class="hint">module event</span>;
  }
  return (
    <a class="hint" href={linkTo('events', { account, stream, start: number })}>
      number {groupDigits(number)} of stream {stream}
    </a>
  );
}

const HASHES: readonly (readonly [name: string, term: string])[] = [
  ['state_change_hash', 'State change hash'],
  ['event_root_hash', 'Event root hash'],
  ['accumulator_root_hash', 'Accumulator root hash'],
  ['state_checkpoint_hash', 'State checkpoint hash'],
];

function Details({ transaction }: { transaction: JsonValue }) {
  return (
    <Section title="Hashes">
      <dl class="facts">
        {HASHES.map(([name, term]) => {
          const hex = textField(transaction, name);
          return (
            <Fact key={name} term={term}>
              {hex && <Hex hex={hex} full />}
            </Fact>
          );
        })}
      </dl>
    </Section>
  );
}
