/**
 * A handmade ledger of five versions in a SQLite store of its own: resources inside and outside of groups, long keys,
 * deletions, event handles, an enum, feature flags that change, blocks, and transactions that are placeholder bytes.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApi } from '../../src/api/http/server.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import { ADDRESS_ONE, padAddress } from '../../src/move/types/address.ts';
import { ACCOUNT_TAG, FEATURES_TAG } from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  AccessPathKey,
  moduleStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
} from '../../src/move/types/state-key.ts';
import { type StructTag, TypeTag } from '../../src/move/types/type-tag.ts';
import {
  accountCodec,
  eventHandleCodec,
  featuresCodec,
} from '../../src/move/values/framework-resource.ts';
import type { ChunkStreamEvent, StateWrite } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { moduleLookup, type Source } from '../move/values/layout-modules.ts';
import { storedTransaction } from '../store/on-chain-data.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

/** Has resources of all kinds. */
export const HOLDER = padAddress('beef');
/** Has an account resource. Its sequence number is 5, and 6 from version 1 on. */
export const OWNER = padAddress('ac0');
export const AUTHENTICATION_KEY = Buffer.alloc(32, 0xab);
/** Published the types, and modules with names of other lengths. */
export const PUBLISHER = padAddress('7');
/** Has groups, resources and accounts that do not decode. */
export const BROKEN = padAddress('bad');
/** A table from u64 to `0x7::m::Plain`, and with one item of another type. */
export const TABLE = padAddress('7ab1e');
/** An event stream; the handle of stream 9 is in a resource of HOLDER. */
export const STREAM = { address: OWNER, creationNumber: 9n } as const;
export const NEWEST = 4n;

const U8: TypeTag = { kind: 'u8' };

/** `0x7::m::{name}`. */
export function typeOf(name: string, typeArguments: readonly TypeTag[] = []): StructTag {
  return { address: PUBLISHER, module: 'm', name, typeArguments };
}

/** A type whose tag takes 1,731 bytes. */
export const LONG_TYPE = typeOf(
  'Wide',
  Array.from({ length: 40 }, () => ({ kind: 'struct', struct: typeOf('Plain') })),
);

const STRUCTS: Source = {
  // Without its type parameter, because the module builder does not know structs of other modules.
  '0x1::event::EventHandle': {
    fields: [
      ['counter', 'u64'],
      ['guid', { is: '0x1::guid::GUID' }],
    ],
  },
  '0x1::guid::GUID': { fields: [['id', { is: '0x1::guid::ID' }]] },
  '0x1::guid::ID': {
    fields: [
      ['creation_num', 'u64'],
      ['addr', 'address'],
    ],
  },
  ...Object.fromEntries(
    // Names of equal length, which sort between a group and the resource that its cursor looks like.
    ['Quip', 'Ring', 'Sing', 'Tong', 'Ugly', 'Zero'].map((name) => [
      `0x7::m::${name}`,
      { fields: [['value', 'u64']] as const },
    ]),
  ),
  '0x7::m::Plain': { fields: [['value', 'u64']] },
  '0x7::m::Alpha': { fields: [['value', 'u8']] },
  '0x7::m::Beta': { fields: [['value', 'u8']] },
  '0x7::m::Box': { parameters: 1, fields: [['inner', { parameter: 0 }]] },
  '0x7::m::Wide': { parameters: 40, fields: [['value', 'u8']] },
  '0x7::m::Kind': {
    variants: [
      ['Bare', []],
      ['WithHandle', [['handle', { is: '0x1::event::EventHandle' }]]],
    ],
  },
  '0x7::m::Handles': {
    fields: [
      ['note', { vector: 'u8' }],
      ['made', { is: '0x1::event::EventHandle' }],
      ['short', 'u64'],
      ['long', { vector: 'u64' }],
    ],
  },
};
const MEMBERSHIPS = [
  ['Alpha', 'Ring'],
  ['Beta', 'Ring'],
  ['Box', 'Ring'],
  ['Zero', 'Tong'],
] as const;

const lookup = moduleLookup(STRUCTS);

function moduleBytes(address: string, name: string): Buffer {
  const module = lookup({ address: padAddress(address), name }) as CompiledModule;
  if (name !== 'm') return writeModule(module);
  const value = encodeBcs((writer) => {
    writer.length32(0);
    const structs = [...MEMBERSHIPS.map(([member, group]) => [member, 3, group] as const)];
    const sorted = [...structs, ['Ring', 2, ''] as const].sort((left, right) =>
      `${left[0].length} ${left[0]}` < `${right[0].length} ${right[0]}` ? -1 : 1,
    );
    writer.vector(sorted, (to, [struct, kind, group]) =>
      to
        .string(struct)
        .length32(1)
        .u8(kind)
        .vector([kind === 2 ? 'address' : `0x7::m::${group}`], (argument, text) =>
          argument.string(text),
        ),
    );
    writer.length32(0);
  });
  return writeModule({ ...module, metadata: [{ key: Buffer.from('aptos::metadata_v1'), value }] });
}

/** The published bytes of `0x7::m`. */
export const MODULE_BYTES = moduleBytes('7', 'm');

export function u64(value: bigint): Buffer {
  return encodeBcs((writer) => writer.u64(value));
}

function write(key: StateKey, value: Uint8Array | undefined): StateWrite {
  return { key: physicalStateKey(key), value };
}

function resource(name: string, value: Uint8Array | undefined, ...of: TypeTag[]): StateWrite {
  return write(resourceStateKey(HOLDER, typeOf(name, of)), value);
}

function group(name: string, members: readonly (readonly [StructTag, Buffer])[]): StateWrite {
  const value = encodeResourceGroup(members.map(([tag, data]) => ({ tag, data })));
  return write(resourceGroupStateKey(HOLDER, typeOf(name)), value);
}

const HANDLE = eventHandleCodec.encode({ counter: 30n, key: STREAM });

/** The bytes of `0x7::m::Handles`. */
export const HANDLES = Buffer.concat([
  encodeBcs((writer) => writer.bytes(Buffer.from('note'))),
  HANDLE,
  u64(1n),
  encodeBcs((writer) => writer.vector([1n, 2n, 3n, 4n, 5n, 6n], (to, value) => to.u64(value))),
]);

/** An item of TABLE with this key. */
function item(key: bigint, value: Uint8Array | undefined): StateWrite {
  return write({ kind: 'tableItem', handle: TABLE, key: u64(key) }, value);
}

function account(sequenceNumber: bigint): StateWrite {
  const handle = (creationNumber: bigint) => ({
    counter: 0n,
    key: { creationNumber, address: OWNER },
  });
  const value = accountCodec.encode({
    authenticationKey: AUTHENTICATION_KEY,
    sequenceNumber,
    guidCreationNumber: 10n,
    coinRegisterEvents: handle(0n),
    keyRotationEvents: handle(1n),
    rotationCapabilityOffer: HOLDER,
    signerCapabilityOffer: undefined,
  });
  return write(resourceStateKey(OWNER, ACCOUNT_TAG), value);
}

/** The feature flags that raise the module version, with or without the flag of default accounts. */
function features(defaultAccounts: boolean): StateWrite {
  const bits = Buffer.alloc(14);
  const flags = [5, 40, 86, 102, 106, ...(defaultAccounts ? [91] : [])];
  for (const flag of flags) bits[flag >> 3]! |= 1 << (flag & 7);
  return write(resourceStateKey(ADDRESS_ONE, FEATURES_TAG), featuresCodec.encode(bits));
}

function events(first: number, count: number): ChunkStreamEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'stream',
    ...STREAM,
    sequenceNumber: BigInt(first + index),
    typeTag: TypeTag.encode(U8),
    data: Buffer.of(first + index),
  }));
}

const GENESIS: readonly StateWrite[] = [
  features(false),
  account(5n),
  ...['event', 'guid'].map((name) =>
    write(moduleStateKey(ADDRESS_ONE, name), moduleBytes('1', name)),
  ),
  ...['m', 'longer', 'aa', 'ab', 'x'.repeat(120)].map((name) =>
    write(moduleStateKey(PUBLISHER, name), MODULE_BYTES),
  ),
  resource('Plain', u64(1n)),
  item(1n, u64(10n)),
  item(2n, Buffer.of(1)),
  resource('Quip', u64(2n)),
  resource('Sing', u64(3n)),
  resource('Ugly', u64(4n)),
  resource('Box', u64(5n), { kind: 'u64' }),
  resource('Box', Buffer.of(6), U8),
  resource('Handles', HANDLES),
  resource('Kind', Buffer.concat([Buffer.of(1), HANDLE])),
  write(resourceStateKey(HOLDER, LONG_TYPE), Buffer.of(7)),
  write(moduleStateKey(HOLDER, 'm'), MODULE_BYTES),
  group('Ring', [
    [typeOf('Beta'), Buffer.of(9)],
    [typeOf('Alpha'), Buffer.of(8)],
    [typeOf('Box', [U8]), Buffer.of(10)],
  ]),
  group('Tong', [[typeOf('Zero'), u64(11n)]]),
  write(new AccessPathKey(HOLDER, Buffer.of(9, 9)), Buffer.of(1)),
  write(resourceGroupStateKey(BROKEN, typeOf('Ring')), Buffer.from('no group')),
  write(resourceStateKey(BROKEN, ACCOUNT_TAG), Buffer.from('no account')),
  write(resourceStateKey(padAddress('bad1'), typeOf('Handles')), Buffer.of(1)),
  write(resourceStateKey(padAddress('bad1'), typeOf('Missing')), Buffer.of(1)),
  // Its module is deleted at version 1.
  write(resourceStateKey(padAddress('bad2'), { ...typeOf('Plain'), module: 'ab' }), u64(6n)),
];

/** The writes of each version. */
export const WRITES: readonly (readonly StateWrite[])[] = [
  GENESIS,
  [
    account(6n),
    resource('Quip', undefined),
    resource('Plain', u64(100n)),
    item(1n, u64(11n)),
    write({ kind: 'raw', bytes: Buffer.of(5) }, Buffer.of(6)),
    write(moduleStateKey(PUBLISHER, 'ab'), undefined),
  ],
  [
    features(true),
    resource('Quip', u64(200n)),
    group('Ring', [[typeOf('Alpha'), Buffer.of(80)]]),
    write(moduleStateKey(PUBLISHER, 'late'), MODULE_BYTES),
  ],
  [write(resourceGroupStateKey(HOLDER, typeOf('Tong')), undefined), item(1n, undefined)],
  [resource('Kind', Buffer.of(0))],
];

/** Placeholder for the transaction of a version. */
export function transactionBytes(version: number): Buffer {
  return storedTransaction(version).transaction;
}

/** A block's hash, derived from its height. */
export function blockHash(height: number): Buffer {
  return Buffer.alloc(32, height === 0 ? 0 : 0xb0 + height);
}

export interface ContentLedger {
  readonly app: TestApi;
  readonly log: LogLines;
  /** Publishes that versions below 1, the first of block 1, are pruned. */
  prune(): Promise<void>;
  close(): Promise<void>;
}

/** Writes the ledger and opens an API over it. */
export async function openContentLedger(
  changes: Partial<ApiSettings> = {},
  keepsTransactions = true,
): Promise<ContentLedger> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-content-'));
  const store = await openTestedStore({ directory });
  const writer = await LedgerWriter.open(store);
  await writer.append({
    firstVersion: 0n,
    transactions: WRITES.map((writes, version) => ({
      writes,
      events: version === 0 ? events(0, 20) : version === 2 ? events(20, 10) : [],
      info: storedTransaction(version).info,
      transaction: keepsTransactions ? transactionBytes(version) : undefined,
    })),
    blocks: [0n, 1n, 3n].map((firstVersion, height) => ({
      height: BigInt(height),
      firstVersion,
      epoch: 0n,
      round: 0n,
      timestampUsecs: 1_000_000n * BigInt(height),
      id: blockHash(height),
    })),
    epochEnds: [],
    frozenRoots: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
    identity: { chainId: 7, genesisWaypointHash: Buffer.alloc(32), keepsTransactions },
  });
  const log = new LogLines();
  const app = new TestApi(
    buildApi(openTestedLedger(store), apiSettings({ ...NO_LOAD_BOUNDS, ...changes }), log),
  );
  return {
    app,
    log,
    prune: async () => {
      await writer.advanceOldest({ firstVersion: 1n, height: 1n });
    },
    close: async () => {
      await app.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
