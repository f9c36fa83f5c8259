/** One transaction: who sent it, what it called, how it ended, what it emitted and changed. */
import {
  argumentTypes,
  type Block,
  type EventJson,
  type ModuleAnswer,
  type Payload,
  type Signature,
  type Transaction,
} from '../answers.ts';
import { Answered, useAnswer } from '../ask.tsx';
import { Changes } from '../changes.tsx';
import { splitFunctionName } from '../encode-request.ts';
import { isObject } from '../exact-json.ts';
import { AccountId, Copied, DeclaredName, HeightId, Hex, Time } from '../ids.tsx';
import { useLive } from '../live-ledger.ts';
import { JsonView, TypedValue, TypeText } from '../move-text.tsx';
import { amountText, groupDigits, readU64 } from '../number-text.ts';
import { type FactRow, Facts, Pager, Section, Some } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { blockRequest, moduleRequest, transactionRequest } from '../requests.ts';
import { linkTo, parameter } from '../route.ts';
import { kindText, Status } from '../transaction-rows.tsx';

/** Octas to a coin of the gas currency. */
const GAS_DECIMALS = 8;
/** Events shown before the reader asks for all. */
const EVENTS_AT_FIRST = 20;

export function TransactionView() {
  const asked = useAnswer<Transaction>(transactionRequest(parameter('id')));
  return (
    <>
      <Answered asked={asked} title="No transaction">
        {(transaction) => <Shown key={transaction.hash} transaction={transaction} />}
      </Answered>
      <RequestPanel asked={asked} />
    </>
  );
}

function account(hex: string | undefined) {
  return hex && <AccountId hex={hex} full />;
}

function Shown({ transaction }: { transaction: Transaction }) {
  const { version, sequence_number, replay_protection_nonce, ...rest } = transaction;
  const block = useAnswer<Block>(
    version === undefined ? undefined : blockRequest(version, 'version'),
  );
  const height = block.json?.block_height;
  const at = readU64(version ?? '');
  const isNewest = version === useLive().info?.ledger_version;
  const expires = rest.expiration_timestamp_secs;
  return (
    <>
      {at !== undefined && (
        <Pager
          label="Transactions"
          links={[
            ['Previous version', at > 0n && linkTo('transaction', { id: at - 1n })],
            ['Next version', !isNewest && linkTo('transaction', { id: at + 1n })],
          ]}
        />
      )}
      <Facts
        rows={[
          ['Status', version ? <Status transaction={transaction} full /> : 'pending'],
          ['Version', version && <Copied text={version}>{groupDigits(version)}</Copied>],
          ['Block', height && <HeightId height={height} />],
          ['Time', rest.timestamp && <Time usecs={rest.timestamp} />],
          ['Kind', kindText(transaction)],
          [
            'Hash',
            <Hex key="hash" hex={rest.hash} href={linkTo('transaction', { id: rest.hash })} full />,
          ],
          ['Sender', account(rest.sender)],
          ['Proposer', account(rest.proposer)],
          ['Replay protection nonce', replay_protection_nonce],
          [
            'Sequence number',
            !replay_protection_nonce && sequence_number && groupDigits(sequence_number),
          ],
          ...gasRows(transaction),
          ['Expires', expires && <Time usecs={`${expires}000000`} />],
        ]}
      />
      {rest.payload && <PayloadPart payload={rest.payload} />}
      {rest.signature && <SignaturePart signature={rest.signature} />}
      <Events events={rest.events ?? []} />
      {at !== undefined && <Changes changes={rest.changes ?? []} version={at} />}
      <Section title="Hashes">
        <Facts
          rows={[
            ['State change hash', hash(rest.state_change_hash)],
            ['Event root hash', hash(rest.event_root_hash)],
            ['Accumulator root hash', hash(rest.accumulator_root_hash)],
            ['State checkpoint hash', hash(rest.state_checkpoint_hash)],
          ]}
        />
      </Section>
    </>
  );
}

function hash(hex: string | null | undefined) {
  return hex && <Hex hex={hex} full />;
}

function gasRows(transaction: Transaction): FactRow[] {
  const { gas_used, gas_unit_price, max_gas_amount } = transaction;
  const [used, price, most] = [gas_used, gas_unit_price, max_gas_amount].map((text) =>
    readU64(text ?? ''),
  );
  if (used === undefined || price === undefined || most === undefined) return [];
  const fee = (
    <>
      <span title={`${groupDigits(used * price)} octas`}>
        {amountText(used * price, GAS_DECIMALS)} APT
      </span>{' '}
      <span class="hint">
        {groupDigits(used)} gas at {groupDigits(price)} octas
      </span>
    </>
  );
  return [
    ['Fee', fee],
    ['Most gas allowed', groupDigits(most)],
  ];
}

function PayloadPart({ payload }: { payload: Payload }) {
  const { type, function: called, multisig_address, type_arguments = [] } = payload;
  const inner = payload['transaction_payload'];
  const types = useArgumentTypes(payload);
  if (type === 'write_set_payload') return null;
  return (
    <Section title={`Payload: ${type.replace('_payload', '').replaceAll('_', ' ')}`}>
      <Facts
        rows={[
          ['Multisig account', account(multisig_address)],
          ['Function', called && <DeclaredName name={called} />],
          ...type_arguments.map(
            (one, at): FactRow => [
              `Type argument T${at}`,
              <code key={at}>
                <TypeText type={one} />
              </code>,
            ],
          ),
          ...(payload.arguments ?? []).map(
            (value, at): FactRow => [
              `Argument ${at + 1}${types[at] ? `: ${types[at]}` : ''}`,
              <TypedValue key={at} value={value} type={types[at]} />,
            ],
          ),
        ]}
      />
      {called && payload.arguments?.length !== 0 && (
        <p class="hint">Bytecode has no names of parameters: arguments stand in their order.</p>
      )}
      {isObject(inner) && <PayloadPart payload={inner as Payload} />}
      {called === undefined && multisig_address === undefined && (
        <details>
          <summary>As JSON</summary>
          <JsonView value={payload} />
        </details>
      )}
    </Section>
  );
}

/** Of the function that is called, or of the script. */
function useArgumentTypes({ function: called = '', code }: Payload): string[] {
  const name = splitFunctionName(called);
  const { json } = useAnswer<ModuleAnswer>(name && moduleRequest(name.address, name.module));
  const declared = json?.abi?.exposed_functions.find((one) => one.name === name?.name);
  const script = isObject(code) && isObject(code['abi']) ? code['abi']['params'] : undefined;
  return argumentTypes(declared?.params ?? (script as string[] | undefined) ?? []);
}

function SignaturePart({ signature }: { signature: Signature }) {
  return (
    <Section title="Signature">
      <Facts
        rows={[
          ['Scheme', signature.type.replaceAll('_', ' ')],
          ['Fee payer', account(signature.fee_payer_address)],
          ...(signature.secondary_signer_addresses ?? []).map(
            (address): FactRow => ['Secondary signer', account(address)],
          ),
        ]}
      />
      <details>
        <summary>Keys and signatures</summary>
        <JsonView value={signature} />
      </details>
    </Section>
  );
}

function Events({ events }: { events: readonly EventJson[] }) {
  return (
    <Section title="Events" count={events.length}>
      {events.length === 0 && <p class="hint">It emitted no events.</p>}
      <Some items={events} first={EVENTS_AT_FIRST} noun="events">
        {(event, at) => (
          <article key={at} class="item">
            <p class="event-type">
              <code>
                <TypeText type={event.type} />
              </code>{' '}
              <EventPlace event={event} />
            </p>
            <JsonView value={event.data} />
          </article>
        )}
      </Some>
    </Section>
  );
}

/** Its stream; events of modules have none. */
function EventPlace({ event: { guid, sequence_number } }: { event: EventJson }) {
  const { account_address: address, creation_number: stream } = guid ?? {};
  if (!address || !stream || (stream === '0' && address === '0x0')) {
    return <span class="hint">module event</span>;
  }
  return (
    <a class="hint" href={linkTo('events', { account: address, stream, start: sequence_number })}>
      number {groupDigits(sequence_number)} of stream {stream}
    </a>
  );
}
