/** The thread that verifies pages, as it is built: after a crash another one goes on. */
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const built = async <T>(path: string): Promise<T> =>
  (await import(new URL(`../../dist/${path}.js`, import.meta.url).href)) as T;

const { Follower } =
  await built<typeof import('../../src/ingest/feed/follower.ts')>('ingest/feed/follower');
const { openVerifier } =
  await built<typeof import('../../src/ingest/feed/verifier.ts')>('ingest/feed/verifier');
const { openSqliteStore } = await built<typeof import('../../src/store/sqlite/sqlite-store.ts')>(
  'store/sqlite/sqlite-store',
);
const { LedgerWriter } =
  await built<typeof import('../../src/store/write/writer.ts')>('store/write/writer');

afterAll(killLeftNodes);

/** The thread cannot continue from here: an error that nothing expects ends it. */
const CRASH = { nextVersion: 5n, frozenRoots: [], trustedRoots: [], waypoint: undefined };

it('crashes while a node is followed: the error is reported, and following goes on', async () => {
  const source = join(temporaryFolder(), 'source');
  await makeSample(source, 300);
  const node = await ServedNode.start(source);
  const verifier = openVerifier();
  let pages = 0;
  const crashing: typeof verifier = {
    start: (start) => verifier.start(start),
    verify: (bytes) => {
      pages += 1;
      if (pages === 2) verifier.start(CRASH);
      return verifier.verify(bytes);
    },
    close: () => verifier.close(),
  };
  const store = await openSqliteStore({ directory: join(temporaryFolder(), 'copy') });
  const writer = await LedgerWriter.open(store);
  const troubles: Error[] = [];
  const until = BigInt(node.ready.ledger_version);
  const options = {
    ...{ upstream: new URL(node.ready.url), until, trustedRoots: [], waypoint: undefined },
    ...{ keepsTransactions: true, pageTransactions: 100, pollIntervalMs: 20 },
  };
  const observer = {
    progress: () => undefined,
    trouble: (error: Error) => troubles.push(error),
    incomparable: () => undefined,
  };
  try {
    const follower = new Follower(writer, crashing, options, observer);
    const head = await follower.run(new AbortController().signal);
    expect(head?.version).toBe(until);
    const crash = { code: 'verifier_failed', message: expect.stringContaining('0 frozen roots') };
    expect(troubles).toContainEqual(expect.objectContaining(crash));
  } finally {
    await verifier.close();
    await store.close();
  }
});
