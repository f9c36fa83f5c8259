/**
 * Overlays: writes are read back at every version and after every revert; above a store they are its later versions.
 */
import { describe, expect, it } from 'vitest';
import { stateWritesOf } from '../../src/ingest/version-parts.ts';
import { listBalances } from '../../src/ledger/balances/balance-list.ts';
import { decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { addressFromBytes } from '../../src/move/types/address.ts';
import { hashedPhysicalKey, type Path } from '../../src/move/types/state-key.ts';
import { type OverlaidWrite, Overlay } from '../../src/state/overlay.ts';
import { overlaidSource } from '../../src/state/overlay-source.ts';
import { PruningGuard } from '../../src/state/pruning-guard.ts';
import { type LedgerSource, storedSource } from '../../src/state/source.ts';
import { isAccountKey, ownerOfKey } from '../../src/store/columns/state-key-column.ts';
import { openView, type StoreView } from '../../src/store/read/view.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { Random, testSeed } from '../random.ts';

const seed = testSeed('overlay');

function write(name: number, version: bigint, bytes: Buffer | undefined): OverlaidWrite {
  const physical = Buffer.concat([Buffer.of(0), Buffer.alloc(32, name % 3), Buffer.of(2, 9, name)]);
  const { hash } = hashedPhysicalKey(physical);
  return { hash, physical, entry: { version, bytes, metadata: undefined, deletedKey: undefined } };
}

describe(`an overlay (seed ${seed})`, () => {
  it('shows what was written up to a version, also after going back', () => {
    const random = new Random(seed);
    type Model = readonly OverlaidWrite[];
    const states: (readonly [Overlay, Model])[] = [[Overlay.EMPTY, []]];
    for (let round = 0; round < 300; round += 1) {
      // Mostly the newest state, otherwise an older one.
      const at = random.below(4) > 0 ? states.length - 1 : random.below(states.length);
      const [overlay, model] = states[at]!;
      const version = BigInt(model.length);
      const writes = Array.from({ length: 1 + random.below(4) }, () => {
        const bytes = random.below(4) === 0 ? undefined : Buffer.of(random.below(256));
        return write(random.below(12), version, bytes);
      });
      states.push([overlay.with({ writes }), [...model, ...writes]]);
    }
    for (const [overlay, model] of states) {
      const version = BigInt(random.below(model.length + 1));
      const last = new Map<string, OverlaidWrite>();
      for (const one of model) last.set(one.physical.toString('hex'), one);
      for (let name = 0; name < 13; name += 1) {
        const { hash } = write(name, 0n, undefined);
        const all = model.filter((one) => one.hash.equals(hash));
        const wanted = all.findLast(({ entry }) => entry.version <= version);
        expect(overlay.find(hash, version)).toBe(wanted?.entry);
        expect(overlay.list('writes', hash)).toEqual(all);
      }
      const found = [...overlay.lastWrites()].map((one) => [one.physical.toString('hex'), one]);
      expect(new Map(found as [string, OverlaidWrite][])).toEqual(last);
      const ofAccount = overlay.list('keys', Buffer.alloc(32, 1));
      expect(new Set(ofAccount.map((key) => key.at(-1)! % 3))).toEqual(
        new Set(ofAccount.length === 0 ? [] : [1]),
      );
    }
    expect(states[0]![0].isEmpty).toBe(true);
    expect(Overlay.EMPTY.with({})).toBe(Overlay.EMPTY);
  });

  it('takes ten thousand changes, and is as quick to go back as to write', () => {
    let overlay = Overlay.EMPTY;
    const before: Overlay[] = [];
    for (let version = 0; version < 10_000; version += 1) {
      before.push(overlay);
      overlay = overlay.with({ writes: [write(version % 200, BigInt(version), Buffer.of(1))] });
    }
    expect([...overlay.lastWrites()]).toHaveLength(200);
    expect([...before[150]!.lastWrites()]).toHaveLength(150);
    expect(overlay.find(write(7, 0n, undefined).hash, 10_000n)?.version).toBe(9_807n);
  });
});

/** The writes of versions of a ledger. */
async function writesFrom(view: StoreView, first: bigint): Promise<readonly OverlaidWrite[]> {
  const items = await view.transactions(first, Number(view.head.version - first) + 1);
  return items.flatMap((item) => {
    const { data, bytes } = decodeBcs(item, readOnChainData);
    return stateWritesOf(bytes.changes).map(({ key, value, metadata }) => {
      const physical = Buffer.from(key);
      const written = { bytes: value && Buffer.from(value), metadata, deletedKey: undefined };
      const deleted = { bytes: undefined, metadata: undefined, deletedKey: physical };
      const entry = { version: data.version, ...(value === undefined ? deleted : written) };
      return { hash: hashedPhysicalKey(physical).hash, physical, entry };
    });
  });
}

it('an overlay of the last versions of a ledger above the ones before is that ledger', async () => {
  const store = await sampleStore(120);
  const view = await openView(store);
  const { head } = view;
  const base = head.version - 60n;
  const writes = await writesFrom(view, base + 1n);
  expect(writes.length).toBeGreaterThan(100);
  const whole = storedSource(store, head);
  const above = overlaidSource(storedSource(store, { ...head, version: base }), Overlay.EMPTY);
  const overlay = writes.reduce((sum, one) => sum.with({ writes: [one] }), Overlay.EMPTY);
  const overlaid = overlaidSource(above, overlay, head);
  const accounts = new Set(
    writes.flatMap(({ physical }) =>
      isAccountKey(physical) ? [ownerOfKey(physical).toString('hex')] : [],
    ),
  );
  for (const version of [base + 20n, head.version]) {
    const keys = writes.map(({ physical }) => hashedPhysicalKey(physical));
    expect(await overlaid.state.stateMany(keys, version)).toEqual(
      await whole.state.stateMany(keys, version),
    );
    for (const account of accounts) {
      const address = addressFromBytes(Buffer.from(account, 'hex'));
      const listed = async ({ state }: LedgerSource) => {
        const kinds: readonly Path['kind'][] = ['code', 'resource', 'resourceGroup'];
        const found: string[] = [];
        for (let from: Buffer | undefined = Buffer.of(0); from !== undefined; ) {
          const page = await state.accountKeys(address, { from, limit: 3, version, kinds });
          found.push(...page.keys.map((key) => key.toString('hex')));
          from = page.next;
        }
        return found;
      };
      expect(await listed(overlaid)).toEqual(await listed(whole));
      const balances = async (source: LedgerSource) => {
        const guard = new PruningGuard(store, source, new Map(), performance.now());
        const request = { address, version, limit: 100 };
        return await listBalances({ source: source.state, guard }, request);
      };
      expect(await balances(overlaid)).toEqual(await balances(whole));
    }
  }
  const to = head.version;
  const keys = writes.map(({ physical }) => hashedPhysicalKey(physical));
  for (const [from, isDescending] of [
    [base - 20n, true],
    [base - 20n, false],
    [to, true],
  ] as const) {
    const bounded = { from, to, limit: 50, isDescending };
    expect(await overlaid.state.stateWrites(keys, bounded)).toEqual(
      await whole.state.stateWrites(keys, bounded),
    );
  }
  expect(overlaid.overrides?.areOverridden).toBe(true);
  expect(above.overrides?.areOverridden).toBe(false);
});
