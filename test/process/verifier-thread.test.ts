/** The built thread that verifies pages: after a crash a new one takes over. */
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { bundled } from './bundled.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const fileOf = await bundled([
  ...['ingest/feed/follower.ts', 'ingest/feed/verifier.ts', 'ingest/feed/verifier-worker.ts'],
  ...['store/sqlite/sqlite-store.ts', 'store/sqlite/commit-worker.ts', 'store/write/writer.ts'],
]);
const { Follower } = (await import(
  fileOf('follower')
)) as typeof import('../../src/ingest/feed/follower.ts');
const { openVerifier } = (await import(
  fileOf('verifier')
)) as typeof import('../../src/ingest/feed/verifier.ts');
const { openSqliteStore } = (await import(
  fileOf('sqlite-store')
)) as typeof import('../../src/store/sqlite/sqlite-store.ts');
const { LedgerWriter } = (await import(
  fileOf('writer')
)) as typeof import('../../src/store/write/writer.ts');

afterAll(killLeftNodes);

/** The thread cannot start from here, and an unexpected error ends it. */
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
    retrying: (error: Error) => troubles.push(error),
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
