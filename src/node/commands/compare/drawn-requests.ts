/** Requests for what a ledger contains, found by asking for its own transactions; the same for the same ledger. */
import { formatHex } from '../../../move/bcs/hex.ts';
import { MoveError } from '../../../move/errors.ts';
import { parseAddress } from '../../../move/types/address.ts';
import { resourceStateKey, StateKey } from '../../../move/types/state-key.ts';
import { parseStructTag } from '../../../move/types/type-parser.ts';
import { BCS_TYPE, JSON_TYPE } from '../../../remote/answer.ts';
import type { ComparedRequest } from './compared-request.ts';

export const MAX_SAMPLED_VERSIONS = 60;
/** Maximum subjects of one kind, such as accounts or table items. */
export const MAX_SUBJECTS_PER_KIND = 30;

const APT = '0x1::aptos_coin::AptosCoin';
/** Accounts of every chain: the framework, tokens, the native coin's metadata, and an unused address. */
const ACCOUNTS = ['0x1', '0x3', '0x4', '0xa', `0x${'7'.repeat(64)}`];
/** Requests that are refused; their errors are compared too. */
const REFUSED = [
  ...['/accounts/zz', '/accounts/0x1/module/', '/accounts/0x1/module/none', '/nothing'],
  ...['/accounts/0x1/resource/0x1::none::None', '/accounts/0x1/resource/0x1::coin'],
  ...['/accounts/0x1/events/5?limit=0', '/accounts/0x1/balance/0x1::coin::Coin<'],
  ...['/transactions/by_hash/0x00', `/transactions/by_hash/0x${'0'.repeat(64)}`],
  ...['/transactions/by_version/x', '/blocks/by_height/18446744073709551616'],
];
/** Members of a transaction's JSON that make a request to encode it. */
const REQUEST_MEMBERS = [
  ...['sender', 'sequence_number', 'max_gas_amount', 'gas_unit_price'],
  ...['expiration_timestamp_secs', 'payload', 'replay_protection_nonce'],
] as const;

type JsonRecord = Readonly<Record<string, unknown>>;

/** Subjects of requests; equal texts count once. */
class Subjects {
  readonly hashes = new Set<string>();
  readonly senders = new Set<string>();
  readonly accounts = new Set(ACCOUNTS);
  readonly resources = new Set<string>();
  readonly stateKeys = new Set<string>();
  readonly modules = new Set(['0x1/module/coin']);
  readonly items = new Set<string>();
  readonly rawItems = new Set<string>();
  readonly pages = new Set<string>();
  readonly sent = new Set<string>();
  readonly encodings = new Set<string>();
}

/** @param ask the JSON that the ledger's own node answers; undefined for a refusal */
export async function drawnRequests(
  ask: (path: string) => Promise<unknown>,
  from: bigint,
  to: bigint,
): Promise<ComparedRequest[]> {
  const versions = spread(from, to, MAX_SAMPLED_VERSIONS);
  const found = new Subjects();
  for (const version of versions) {
    const transaction = await ask(`/v1/transactions/by_version/${version}`);
    if (isRecord(transaction)) collectSubjects(found, transaction);
  }
  return requestsFor(found, versions, to).flatMap(expandFormats);
}

/** At most `count` versions from the first to the last one. */
function spread(from: bigint, to: bigint, count: number): bigint[] {
  const steps = BigInt(count - 1);
  const all = Array.from({ length: count }, (_, at) => from + ((to - from) * BigInt(at)) / steps);
  return [...new Set(all)];
}

function collectSubjects(found: Subjects, transaction: JsonRecord): void {
  const { hash, sender, sequence_number: sequenceNumber, payload } = transaction;
  const nonce = transaction['replay_protection_nonce'] ?? null;
  found.hashes.add(String(hash));
  if (typeof sender === 'string') {
    found.senders.add(sender);
    found.accounts.add(sender);
    if (typeof sequenceNumber === 'string' && nonce === null) {
      found.sent.add(`/accounts/${sender}/transactions?start=${sequenceNumber}&limit=1`);
    }
    if (isRecord(payload)) {
      const members = REQUEST_MEMBERS.map((name) => [name, transaction[name]]);
      found.encodings.add(JSON.stringify(Object.fromEntries(members)));
    }
  }
  for (const event of listOf(transaction['events'])) collectEventStream(found, event);
  for (const change of listOf(transaction['changes'])) collectChange(found, change);
}

function collectEventStream(found: Subjects, { guid, sequence_number: number }: JsonRecord): void {
  if (!isRecord(guid)) return;
  const { account_address: account, creation_number: creationNumber } = guid;
  if (account === '0x0') return;
  found.pages.add(`/accounts/${account}/events/${creationNumber}?start=${number}&limit=3`);
}

function collectChange(found: Subjects, change: JsonRecord): void {
  const { type, address, data, handle, key } = change;
  if (type === 'write_table_item') {
    found.rawItems.add(JSON.stringify([handle, { key }]));
    if (isRecord(data)) {
      const { key: value, key_type: keyType, value_type: valueType } = data;
      const body = { key_type: keyType, value_type: valueType, key: value };
      found.items.add(JSON.stringify([handle, body]));
    }
    return;
  }
  if (typeof address !== 'string' || !isRecord(data)) return;
  found.accounts.add(address);
  if (type === 'write_module' && isRecord(data['abi'])) {
    found.modules.add(`${address}/module/${data['abi']['name']}`);
  }
  if (type !== 'write_resource' || typeof data['type'] !== 'string') return;
  found.resources.add(`${address}/resource/${encodeURIComponent(data['type'])}`);
  const stateKey = stateKeyOf(address, data['type']);
  if (stateKey !== undefined) found.stateKeys.add(stateKey);
}

/** The key under which a resource is if it is in no group, as hex. */
function stateKeyOf(address: string, type: string): string | undefined {
  try {
    const key = resourceStateKey(parseAddress(address), parseStructTag(type));
    return formatHex(StateKey.encode(key));
  } catch (error) {
    // Another node may return something that is not a type.
    if (error instanceof MoveError) return undefined;
    throw error;
  }
}

interface DrawnRequest {
  readonly path: string;
  readonly body?: string;
  /** Both formats when absent. */
  readonly accept?: string;
}

/** Versions to ask at, one after the other: the same ones for the same ledger. */
type NextVersion = () => string;

function requestsFor(found: Subjects, versions: readonly bigint[], to: bigint): DrawnRequest[] {
  let drawn = 0;
  const at: NextVersion = () => {
    drawn += 1;
    return `ledger_version=${versions[(drawn * 7) % versions.length]}`;
  };
  return [
    ...versions.flatMap((version): DrawnRequest[] => [
      { path: `/transactions/by_version/${version}` },
      { path: `/blocks/by_version/${version}` },
      { path: `/transactions/auxiliary_info?start_version=${version}&limit=2` },
    ]),
    ...versions.slice(0, 10).map((version) => ({ path: `/transactions?start=${version}&limit=5` })),
    ...[0, 1, 2, 3].map((height) => ({
      path: `/blocks/by_height/${height}?with_transactions=true`,
    })),
    ...some(found.hashes).map((hash) => ({ path: `/transactions/by_hash/${hash}` })),
    ...some(found.pages).map((path) => ({ path })),
    ...some(found.sent).map((path) => ({ path })),
    ...accountRequests(found, to, at),
    ...stateRequests(found, to, at),
    ...some(found.encodings).map((body) => ({ path: '/transactions/encode_submission', body })),
    viewOf('0x1::coin::name', [APT], [], `ledger_version=${to}`),
    viewOf('0x1::coin::supply', [APT], [], `ledger_version=${to}`),
    { path: '/estimate_gas_price' },
    ...REFUSED.map((path) => ({ path, accept: JSON_TYPE })),
  ];
}

function accountRequests(
  { accounts, senders }: Subjects,
  to: bigint,
  at: NextVersion,
): DrawnRequest[] {
  const deposits = `events/0x1::coin::CoinStore<${APT}>/deposit_events?start=0&limit=3`;
  return [
    ...some(accounts).flatMap((account): DrawnRequest[] => [
      { path: `/accounts/${account}?${at()}` },
      { path: `/accounts/${account}/balance/0xa?${at()}` },
      { path: `/accounts/${account}/resources?limit=50&${at()}` },
      { path: `/accounts/${account}/modules?limit=20&${at()}`, accept: JSON_TYPE },
      { path: `/accounts/${account}/${deposits}`, accept: JSON_TYPE },
    ]),
    ...some(senders).flatMap((sender): DrawnRequest[] => [
      { path: `/accounts/${sender}/balance/${APT}?ledger_version=${to}` },
      { path: `/accounts/${sender}/transaction_summaries?end_version=${to}&limit=5` },
      viewOf('0x1::coin::balance', [APT], [sender], at()),
      viewOf('0x1::account::exists_at', [], [sender], at()),
    ]),
  ];
}

function stateRequests(found: Subjects, to: bigint, at: NextVersion): DrawnRequest[] {
  const tableRequest = (text: string, operation: string, accept?: string): DrawnRequest => {
    const [handle, body] = JSON.parse(text) as [string, unknown];
    const path = `/tables/${handle}/${operation}?${at()}`;
    return { path, body: JSON.stringify(body), ...(accept && { accept }) };
  };
  return [
    ...some(found.resources).map((path) => ({ path: `/accounts/${path}?${at()}` })),
    ...some(found.modules).map((path) => ({ path: `/accounts/${path}?ledger_version=${to}` })),
    ...some(found.items).map((item) => tableRequest(item, 'item')),
    ...some(found.rawItems).map((item) => tableRequest(item, 'raw_item', BCS_TYPE)),
    ...some(found.stateKeys).map((key) => ({
      path: `/experimental/state_values/raw?${at()}`,
      body: JSON.stringify({ key }),
      accept: BCS_TYPE,
    })),
  ];
}

/** Skips the first ones, which belong to genesis. */
function some(all: ReadonlySet<string>): string[] {
  const count = Math.min(all.size, MAX_SUBJECTS_PER_KIND);
  const drawnBefore = (index: number) => Math.floor((index * count) / all.size);
  const isDrawn = (index: number) => drawnBefore(index) < drawnBefore(index + 1);
  return [...all].filter((_, index) => isDrawn(index));
}

function viewOf(
  name: string,
  types: readonly string[],
  args: readonly string[],
  query: string,
): DrawnRequest {
  const body = JSON.stringify({ function: name, type_arguments: types, arguments: args });
  return { path: `/view?${query}`, body };
}

/** One request, or one in each format if it names none. */
function expandFormats({ path, body, accept }: DrawnRequest): ComparedRequest[] {
  const formats = accept === undefined ? [JSON_TYPE, BCS_TYPE] : [accept];
  return formats.map((format) => ({
    method: body === undefined ? 'GET' : 'POST',
    path: `/v1${path}`,
    headers: { accept: format, ...(body !== undefined && { 'content-type': JSON_TYPE }) },
    ...(body !== undefined && { body: Buffer.from(body) }),
  }));
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
