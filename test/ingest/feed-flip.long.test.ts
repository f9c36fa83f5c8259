/** One flipped bit anywhere in a page is refused, and the error names its version. */
import { describe, expect, it } from 'vitest';
import { PageError } from '../../src/ingest/feed/page-error.ts';
import { PageVerifier } from '../../src/ingest/feed/page-verifier.ts';
import { versionsOf } from '../../src/ingest/feed/verified-page.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { MerkleAccumulator } from '../../src/move/crypto/accumulator.ts';
import { TransactionPayload } from '../../src/move/transactions/payload.ts';
import { readOnChainData, Transaction } from '../../src/move/transactions/transaction.ts';
import { transactionInfoHash } from '../../src/move/transactions/transaction-info.ts';
import { openView } from '../../src/store/read/view.ts';
import { Random, testSeed } from '../random.ts';
import { type MadePage, pageOf, randomChain, submitted } from './feed-chain.ts';
import { sampleStore } from './feed-following.ts';

function verifierAt({ firstVersion, frozenRoots }: MadePage): PageVerifier {
  const start = { nextVersion: firstVersion, frozenRoots };
  return new PageVerifier({ ...start, trustedRoots: [], waypoint: undefined });
}

/** The fields of an item in their order, with the offset at which each ends. */
function fieldEnds(item: Buffer): readonly (readonly [field: string, end: number])[] {
  const { bytes } = readOnChainData(new BcsReader(item));
  const endOf = (part: Buffer) => part.byteOffset - item.byteOffset + part.length;
  const changesStart = endOf(bytes.changes) - bytes.changes.length;
  return [
    ['version', 8],
    ['transaction', endOf(bytes.transaction)],
    ['info', endOf(bytes.info)],
    ['events', changesStart - 32],
    ['accumulator_root_hash', changesStart],
    ['changes', item.length],
  ];
}

/**
 * Start and end of the bytes of an item that no hash covers: the results of decrypting a payload (docs/spec/backup.md
 * §4.7).
 */
function uncovered(item: Buffer): readonly [from: number, to: number] {
  const { data, bytes } = readOnChainData(new BcsReader(item));
  const whole = bytes.transaction.length;
  const more = whole - Transaction.encode(submitted(data.transaction)).length;
  if (more === 0) return [0, 0];
  const payload = new BcsReader(bytes.transaction, 1 + 32 + 8);
  TransactionPayload.read(payload);
  const end = bytes.transaction.byteOffset - item.byteOffset + payload.offset;
  return [end - more, end];
}

/** Flips one bit of an item that hashes cover and returns the refusal. */
function refusal(made: MadePage, random: Random): { readonly error: unknown; at: string } {
  const index = random.below(made.items.length);
  const item = made.items[index]!;
  const [from, to] = uncovered(item);
  const drawn = random.below(item.length - (to - from));
  const byte = drawn < from ? drawn : drawn + to - from;
  const damaged = Buffer.from(item);
  damaged[byte]! ^= 1 << random.below(8);
  const items = made.items.with(index, damaged);
  const field = fieldEnds(item).find(([, end]) => byte < end)![0];
  const at = `version ${made.firstVersion + BigInt(index)}, ${field}, byte ${byte}`;
  try {
    verifierAt(made).verify(pageOf(items));
    return { error: undefined, at };
  } catch (error) {
    return { error, at };
  }
}

const FIELD_ORDER = [
  'version',
  'transaction',
  'info',
  'events',
  'accumulator_root_hash',
  'changes',
];

/** Compares a refusal with the position of the bit. Returns whether it named the exact field. */
function expectNamed({ error, at }: { readonly error: unknown; at: string }): boolean {
  if (!(error instanceof PageError)) throw new Error(`${at}: ${error ?? 'was taken'}`);
  const [version, field] = at.split(', ');
  expect(`version ${error.version}`, `${at}: ${error.message}`).toBe(version);
  // After damage to a length, a field may decode and the next one fail. Damage to the info shows in the data that it
  // covers.
  if (field !== 'info') {
    const named = FIELD_ORDER.indexOf(error.field);
    expect(named, `${at}: ${error.message}`).toBeGreaterThanOrEqual(FIELD_ORDER.indexOf(field!));
  }
  return error.field === field;
}

/** The pages of a sample ledger, a few versions each, from version 1 on. */
async function samplePages(pageItems: number, transactions: number): Promise<MadePage[]> {
  const view = await openView(await sampleStore(transactions));
  const accumulator = new MerkleAccumulator('TransactionAccumulator');
  const pages: MadePage[] = [];
  const all: Buffer[] = [];
  while (BigInt(all.length) <= view.head.version) {
    all.push(...(await view.transactions(BigInt(all.length), 1_000)));
  }
  let items: Buffer[] = [];
  let before: Pick<MadePage, 'firstVersion' | 'frozenRoots'> | undefined;
  for (const [version, item] of all.entries()) {
    if (version > 0) items.push(item);
    before ??= { firstVersion: 1n, frozenRoots: [] };
    const { bytes } = readOnChainData(new BcsReader(item));
    accumulator.append(transactionInfoHash(bytes.info));
    if (items.length === pageItems || version === 0) {
      if (items.length > 0) pages.push({ ...before, items });
      items = [];
      before = {
        firstVersion: accumulator.leafCount,
        frozenRoots: accumulator.frozenSubtreeRoots,
      };
    }
  }
  return pages;
}

it('a transaction may have any number of events', () => {
  const count = 50_000;
  const event = { kind: 'v2', typeTag: { kind: 'u8' }, data: Buffer.of(1) } as const;
  const events = Array.from({ length: count }, () => event);
  const page = randomChain(1, 1, 7n, (data) => ({ ...data, events }));
  const [version] = versionsOf(verifierAt(page).verify(pageOf(page.items)), false);
  expect(version!.events).toHaveLength(count);
});

describe('a flipped bit', () => {
  it('is refused wherever it is in a sample ledger', async () => {
    const random = new Random(testSeed('bit flips in feed chunks'));
    const pages = await samplePages(4, 6_000);
    for (const page of pages.slice(0, 20))
      expect(() => verifierAt(page).verify(pageOf(page.items))).not.toThrow();
    let exact = 0;
    const flips = 10_000;
    for (let flip = 0; flip < flips; flip += 1) {
      const page = pages[random.below(pages.length)]!;
      if (expectNamed(refusal(page, random))) exact += 1;
    }
    console.info(`${flips} flips refused, in ${exact} the very field was named`);
    expect(exact).toBeGreaterThan(flips / 2);
  });

  it('is refused in transactions, infos and write sets of every form', () => {
    const random = new Random(testSeed('bit flips in random chains'));
    for (let run = 0; run < 40; run += 1) {
      const page = randomChain(random.below(2 ** 31), 3, BigInt(1 + random.below(200)));
      expect(verifierAt(page).verify(pageOf(page.items)).count).toBe(3);
      for (let flip = 0; flip < 50; flip += 1) expectNamed(refusal(page, random));
    }
  });

  it('is refused in genesis', async () => {
    const random = new Random(testSeed('bit flips in genesis'));
    const view = await openView(await sampleStore(2));
    const items = await view.transactions(0n, 1);
    const page: MadePage = { firstVersion: 0n, frozenRoots: [], items };
    expect(verifierAt(page).verify(pageOf(items)).identity?.chainId).toBe(204);
    for (let flip = 0; flip < 30; flip += 1) expectNamed(refusal(page, random));
  });

  it('is refused in the number of items, as are bytes after the last one', async () => {
    const [page] = await samplePages(4, 50);
    const bytes = pageOf(page!.items);
    for (let bit = 0; bit < 8; bit += 1) {
      const damaged = Uint8Array.from(bytes);
      damaged[0]! ^= 1 << bit;
      expect(() => verifierAt(page!).verify(damaged)).toThrow(PageError);
    }
    const longer = Uint8Array.from([...bytes, 0]);
    expect(() => verifierAt(page!).verify(longer)).toThrow(
      expect.objectContaining({ code: 'page_malformed', field: 'page', version: 5n }),
    );
  });
});
