/** The sample ledger is a ledger in every byte: hashes, signatures, streams, balances, epochs. */
import { beforeAll, describe, expect, it } from 'vitest';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import { readModule } from '../../src/move/modules/read.ts';
import type { ModuleId } from '../../src/move/types/module-id.ts';
import { iterateGroup } from '../../src/move/types/resource-group.ts';
import { parsePhysicalStateKey } from '../../src/move/types/state-key.ts';
import { formatTypeTag, type StructTag, type TypeTag } from '../../src/move/types/type-tag.ts';
import { newBlockEventCodec } from '../../src/move/values/framework-resource.ts';
import { resolveLayout } from '../../src/move/values/layout-resolver.ts';
import { renderValue } from '../../src/move/values/value-json.ts';
import { MODULE_EVENT_EPOCH } from '../../src/sample/model/chain.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { type AuditedTransaction, Auditor } from './auditor.ts';

const OPTIONS = { seed: 7, transactions: 5_000, accounts: 400 } as const;

describe('a sample ledger of 5,000 transactions', () => {
  const auditor = new Auditor();
  const transactions: AuditedTransaction[] = [];
  const chunks: Chunk[] = [];

  beforeAll(() => {
    for (const chunk of sampleChunks(OPTIONS)) {
      chunks.push(chunk);
      transactions.push(...auditor.audit(chunk));
    }
  });

  it('decodes, hashes and verifies, version by version', () => {
    expect(transactions.length).toBeGreaterThanOrEqual(OPTIONS.transactions);
    expect(transactions.length).toBeLessThan(OPTIONS.transactions + 101);
    expect(auditor.signatures).toBeGreaterThan(4_000);
  });

  it('has transactions, payloads, authenticators and writes of many kinds', () => {
    expect([...auditor.transactionKinds].sort()).toEqual([
      'blockEpilogue',
      'blockMetadata',
      'blockMetadataExt',
      'genesis',
      'stateCheckpoint',
      'user',
      'validator',
    ]);
    expect([...auditor.payloads].sort()).toEqual([
      'entryFunction',
      'multisig',
      'payload',
      'script',
    ]);
    expect([...auditor.authenticators].sort()).toEqual([
      'ed25519',
      'feePayer',
      'multiAgent',
      'multiEd25519',
      'singleSender',
    ]);
    expect([...auditor.accountAuthenticators].sort()).toEqual([
      'ed25519',
      'multiEd25519',
      'multiKey',
      'singleKey',
    ]);
    expect([...auditor.operations].sort()).toEqual([
      'creation',
      'creationWithMetadata',
      'deletion',
      'deletionWithMetadata',
      'modification',
      'modificationWithMetadata',
    ]);
    const keyKinds = new Set(
      transactions.flatMap(({ chunk }) =>
        chunk.writes.map(({ key }) => {
          const parsed = parsePhysicalStateKey(key);
          return parsed.kind === 'accessPath' ? parsed.parsed!.kind : parsed.kind;
        }),
      ),
    );
    expect([...keyKinds].sort()).toEqual(['code', 'resource', 'resourceGroup', 'tableItem']);
    const statuses = new Set(transactions.map(({ item }) => item.data.info.status.kind));
    expect(statuses).toContain('moveAbort');
    expect(statuses).toContain('outOfGas');
    const writeSets = new Set(transactions.map(({ item }) => item.data.changes.kind));
    expect([...writeSets].sort()).toEqual(['v0', 'v1']);
  });

  it('begins blocks and ends epochs where its events say', () => {
    const blocks = chunks.flatMap((chunk) => chunk.blocks);
    const seen = transactions.flatMap(({ version, item }) =>
      item.data.events.flatMap((event) => {
        if (formatTypeTag(event.typeTag) !== '0x1::block::NewBlockEvent') return [];
        const { height, epoch, round, timestampUsecs } = newBlockEventCodec.decode(event.data);
        return [{ firstVersion: version, height, epoch, round, timestampUsecs }];
      }),
    );
    expect(blocks.map(({ id, ...block }) => block)).toEqual(seen);
    const times = seen.map(({ timestampUsecs }) => timestampUsecs);
    expect(times.every((time, index) => index === 0 || time >= times[index - 1]!)).toBe(true);

    const ends = chunks.flatMap((chunk) => chunk.epochEnds);
    const reconfigurations = transactions.filter(({ item }) =>
      item.data.events.some(
        ({ typeTag }) => formatTypeTag(typeTag) === '0x1::reconfiguration::NewEpochEvent',
      ),
    );
    expect(ends.map(({ lastVersion }) => lastVersion)).toEqual(
      reconfigurations.map(({ version }) => version),
    );
    expect(ends.map(({ epoch }) => epoch)).toEqual(ends.map((_, index) => BigInt(index)));
    expect(ends.length).toBeGreaterThan(MODULE_EVENT_EPOCH);
    // A reconfiguration is the last thing in its block.
    const starts = new Set(blocks.map(({ firstVersion }) => firstVersion));
    for (const { lastVersion } of ends) expect(starts.has(lastVersion + 1n)).toBe(true);
  });

  it('has a genesis whose waypoint computes', () => {
    const genesis = readGenesis(transactions[0]!.item.bytes.transaction);
    const hashes = computeGenesisHashes(genesis);
    expect(chunks[0]!.identity).toEqual({
      chainId: 204,
      genesisWaypointHash: hashes.waypoint.hash,
      keepsTransactions: true,
    });
    expect(genesis.counts.modules).toBeGreaterThan(60);
    expect(genesis.counts.tableItems).toBeGreaterThan(5);
  });

  it('holds in every event and resource a value of the declared type', async () => {
    const modules = modulesOf(auditor);
    const lookup = (id: ModuleId): CompiledModule | undefined =>
      modules.get(`${id.address}::${id.name}`);
    const layouts = new Map<string, Awaited<ReturnType<typeof resolveLayout>>>();
    const check = async (tag: TypeTag, bytes: Uint8Array): Promise<void> => {
      const name = formatTypeTag(tag);
      if (!layouts.has(name)) layouts.set(name, await resolveLayout(tag, lookup));
      expect(() => renderValue(layouts.get(name)!, bytes), name).not.toThrow();
    };
    for (const { item } of transactions) {
      for (const event of item.data.events) await check(event.typeTag, event.data);
    }
    const resource = (struct: StructTag, bytes: Uint8Array): Promise<void> =>
      check({ kind: 'struct', struct }, bytes);
    for (const { chunk } of transactions) {
      for (const { key, value } of chunk.writes) {
        const parsed = parsePhysicalStateKey(key);
        if (parsed.kind !== 'accessPath' || value === undefined) continue;
        const path = parsed.parsed!;
        if (path.kind === 'resource') await resource(path.tag, value);
        if (path.kind !== 'resourceGroup') continue;
        for (const { tag, data } of iterateGroup(value)) await resource(tag, data);
      }
    }
    expect(layouts.size).toBeGreaterThan(90);
  });
});

/** The modules of the latest state. */
function modulesOf(auditor: Auditor): Map<string, CompiledModule> {
  const modules = new Map<string, CompiledModule>();
  for (const [key, { bytes }] of auditor.state) {
    const parsed = parsePhysicalStateKey(Buffer.from(key, 'hex'));
    if (parsed.kind !== 'accessPath' || parsed.parsed?.kind !== 'code') continue;
    const { address, name } = parsed.parsed.module;
    modules.set(`${address}::${name}`, readModule(bytes));
  }
  return modules;
}
