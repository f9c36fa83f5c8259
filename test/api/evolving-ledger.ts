/**
 * A handmade ledger of six versions whose types change: a module that is published late, and one that is replaced by
 * one with other layouts, which chains refuse.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApi } from '../../src/api/http/server.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import type { ContractEvent } from '../../src/move/transactions/event.ts';
import type { TransactionPayload } from '../../src/move/transactions/payload.ts';
import {
  type Transaction,
  TransactionOnChainData,
} from '../../src/move/transactions/transaction.ts';
import { TransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import type { WriteSetEntry } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE, padAddress } from '../../src/move/types/address.ts';
import { FEATURES_TAG } from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  AccessPathKey,
  moduleStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  StateKey,
} from '../../src/move/types/state-key.ts';
import type { StructTag } from '../../src/move/types/type-tag.ts';
import { featuresCodec } from '../../src/move/values/framework-resource.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { moduleLookup, type Source } from '../move/values/layout-modules.ts';
import { frozenRoots } from '../store/chunks.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const PUBLISHER = padAddress('7');
export const HOLDER = padAddress('beef');
/** Time of the only block after genesis. */
export const BLOCK_USECS = 1_700_000_000_000_000n;

/** Indexed by version. */
interface Step {
  readonly transaction: Transaction;
  readonly changes: readonly (readonly [StateKey, Buffer | undefined])[];
  readonly events: readonly ContractEvent[];
}

export function type(name: string, module = 'm'): StructTag {
  return { address: PUBLISHER, module, name, typeArguments: [] };
}

function moduleBytes(name: string, source: Source, address = PUBLISHER): Buffer {
  return writeModule(moduleLookup(source)({ address, name }) as CompiledModule);
}

const FIRST = moduleBytes('m', { '0x7::m::Note': { fields: [['value', 'u64']] } });
const FEATURES = moduleBytes(
  'features',
  { '0x1::features::Features': { fields: [['features', { vector: 'u8' }]] } },
  ADDRESS_ONE,
);
/** Not compatible with the first. */
const SECOND = moduleBytes('m', {
  '0x7::m::Note': {
    fields: [
      ['more', 'u8'],
      ['value', 'u64'],
    ],
  },
});
const LATE = moduleBytes('late', { '0x7::late::Ping': { fields: [['value', 'u64']] } });

function u64(value: bigint): Buffer {
  return encodeBcs((writer) => writer.u64(value));
}

function features(): readonly [StateKey, Buffer] {
  const bits = Buffer.alloc(14);
  for (const flag of [5, 40, 86, 102, 106]) bits[flag >> 3]! |= 1 << (flag & 7);
  return [resourceStateKey(ADDRESS_ONE, FEATURES_TAG), featuresCodec.encode(bits)];
}

function event(tag: StructTag, data: Buffer): ContractEvent {
  return { kind: 'v2', typeTag: { kind: 'struct', struct: tag }, data };
}

export function checkpoint(): Transaction {
  return { kind: 'stateCheckpoint', blockId: Buffer.alloc(32) };
}

/** A user transaction with a payload. */
export function userTransaction(payload: TransactionPayload): Transaction {
  const raw = {
    sender: HOLDER,
    sequenceNumber: 1n,
    payload,
    maxGasAmount: 2n,
    gasUnitPrice: 3n,
    expirationTimestampSecs: 4n,
    chainId: 7,
  };
  const authenticator = {
    kind: 'ed25519',
    publicKey: Buffer.alloc(32, 5),
    signature: Buffer.alloc(64, 6),
  } as const;
  return { kind: 'user', transaction: { raw, authenticator } };
}

const ring = encodeResourceGroup([
  { tag: type('Note'), data: Buffer.concat([Buffer.of(1), u64(2n)]) },
  { tag: type('Missing'), data: Buffer.of(3) },
]);

const STEPS: readonly Step[] = [
  {
    transaction: userTransaction({ kind: 'moduleBundle', dummy: 0n }),
    changes: [
      features(),
      [moduleStateKey(ADDRESS_ONE, 'features'), FEATURES],
      [moduleStateKey(PUBLISHER, 'm'), FIRST],
      [resourceStateKey(HOLDER, type('Note')), u64(1n)],
    ],
    events: [event(type('Note'), u64(10n))],
  },
  // The next transaction publishes the type of its event.
  {
    transaction: userTransaction({ kind: 'moduleBundle', dummy: 0n }),
    changes: [],
    events: [event(type('Ping', 'late'), u64(7n))],
  },
  {
    transaction: checkpoint(),
    changes: [[moduleStateKey(PUBLISHER, 'late'), LATE]],
    events: [],
  },
  {
    transaction: checkpoint(),
    changes: [
      [moduleStateKey(PUBLISHER, 'm'), SECOND],
      [resourceStateKey(HOLDER, type('Note')), Buffer.concat([Buffer.of(9), u64(5n)])],
    ],
    events: [],
  },
  // Values that do not decode, and values that are not shown.
  {
    transaction: userTransaction({ kind: 'moduleBundle', dummy: 0n }),
    changes: [
      [resourceStateKey(HOLDER, type('Missing')), Buffer.of(1, 2)],
      [resourceStateKey(HOLDER, type('Note')), Buffer.of(3)],
      [resourceGroupStateKey(HOLDER, type('Ring')), ring],
      [resourceGroupStateKey(HOLDER, type('Tong')), Buffer.from('no group')],
      [resourceGroupStateKey(HOLDER, type('Void')), encodeResourceGroup([])],
      [new AccessPathKey(HOLDER, Buffer.of(9, 9)), Buffer.of(4)],
      [{ kind: 'raw', bytes: Buffer.of(5) }, Buffer.of(6)],
      [moduleStateKey(HOLDER, 'junk'), Buffer.from('no module')],
    ],
    events: [event(type('Missing'), Buffer.of(7)), event(type('Note'), u64(8n))],
  },
  {
    transaction: checkpoint(),
    changes: [
      [resourceStateKey(HOLDER, type('Note')), undefined],
      [resourceGroupStateKey(HOLDER, type('Ring')), undefined],
      [moduleStateKey(HOLDER, 'junk'), undefined],
      [new AccessPathKey(HOLDER, Buffer.of(9, 9)), undefined],
    ],
    events: [],
  },
];

/** Transaction and info of a version, as stored. */
function onChain(version: number, { transaction, changes, events }: Step) {
  const info = {
    kind: 'v0',
    gasUsed: 0n,
    status: { kind: 'success' },
    transactionHash: Buffer.alloc(32, 1),
    eventRootHash: Buffer.alloc(32, 2),
    stateChangeHash: Buffer.alloc(32, 3),
    stateCheckpointHash: undefined,
    auxiliaryInfoHash: undefined,
  } as const;
  const writes = changes
    .map(([key, bytes]): WriteSetEntry => {
      const op =
        bytes === undefined
          ? ({ kind: 'deletion', metadata: undefined } as const)
          : ({ kind: 'creation', bytes, metadata: undefined } as const);
      return { key, op };
    })
    .sort((left, right) => Buffer.compare(keyBytes(left.key), keyBytes(right.key)));
  const data = {
    version: BigInt(version),
    transaction,
    info,
    events,
    accumulatorRootHash: Buffer.alloc(32, 0x40 + version),
    changes: { kind: 'v0', writes },
  } as const;
  return {
    info: TransactionInfo.encode(info),
    transaction: TransactionOnChainData.encode(data),
  };
}

function keyBytes(key: StateKey): Buffer {
  return StateKey.encode(key);
}

export interface EvolvingLedger {
  readonly app: TestApi;
  readonly log: LogLines;
  /** Appends a version; its writes are only in the transaction. */
  append(transaction: Transaction, changes?: Step['changes']): Promise<number>;
  close(): Promise<void>;
}

/** Writes the ledger and opens an API over it. */
export async function openEvolvingLedger(
  changes: Partial<ApiSettings> = {},
): Promise<EvolvingLedger> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-evolving-'));
  const store = await openTestedStore({ directory });
  const writer = await LedgerWriter.open(store);
  const identity = { chainId: 7, genesisWaypointHash: Buffer.alloc(32), keepsTransactions: true };
  await writer.append({
    firstVersion: 0n,
    transactions: STEPS.map((step, version) => ({
      writes: step.changes.map(([key, value]) => ({ key: physicalStateKey(key), value })),
      events: [],
      ...onChain(version, step),
    })),
    blocks: [0n, 1n].map((firstVersion) => ({
      height: firstVersion,
      firstVersion,
      epoch: 0n,
      round: 0n,
      timestampUsecs: firstVersion * BLOCK_USECS,
      id: Buffer.alloc(32),
    })),
    epochEnds: [],
    frozenRoots: frozenRoots(STEPS.length - 1),
    identity,
  });
  const log = new LogLines();
  const app = new TestApi(
    buildApi(openTestedLedger(store), apiSettings({ ...NO_LOAD_BOUNDS, ...changes }), log),
  );
  let next = STEPS.length;
  return {
    app,
    log,
    append: async (transaction, written = []) => {
      const version = next;
      next += 1;
      await writer.append({
        firstVersion: BigInt(version),
        transactions: [
          {
            writes: [],
            events: [],
            ...onChain(version, { transaction, changes: written, events: [] }),
          },
        ],
        blocks: [],
        epochEnds: [],
        frozenRoots: frozenRoots(version),
      });
      return version;
    },
    close: async () => {
      await app.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
