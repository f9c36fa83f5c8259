/**
 * A process of its own for the tests of a SQLite store: `node store-process.js ROLE DIRECTORY`. It writes lines.
 * `write` appends chunks as fast as it can and prints each acknowledged version; `append` appends one version; `hold`
 * opens the store for writing and waits; `read` opens it for reading and answers every line of input with what it sees.
 */
import { createInterface } from 'node:readline';
import { hashedPhysicalKey } from '../../../src/move/types/state-key.ts';
import { openView } from '../../../src/store/read/view.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../../../src/store/write/writer.ts';
import { chunk, plainChunk, resourceKey, transaction, write } from '../chunks.ts';

const [role, directory] = process.argv.slice(2) as [string, string];
const KEYS = 20;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Version v writes `v` under key v % KEYS, so that others can check everything. */
async function writeForEver(): Promise<void> {
  const store = await openSqliteStore({ directory });
  const writer = await LedgerWriter.open(store);
  say(`open ${writer.head?.version ?? -1n}`);
  for (let version = Number(writer.head?.version ?? -1n) + 1; ; ) {
    const count = version === 0 ? 1 : 1 + (version % 50);
    const transactions = Array.from({ length: count }, (_, index) =>
      transaction(version + index, {
        writes: [write(resourceKey((version + index) % KEYS, 'A'), `${version + index}`)],
      }),
    );
    const { head } = await writer.append(chunk(version, transactions));
    say(`acknowledged ${head.version}`);
    version += count;
  }
}

async function append(): Promise<void> {
  const store = await openSqliteStore({ directory });
  const writer = await LedgerWriter.open(store);
  await writer.append(plainChunk(Number(writer.head?.version ?? -1n) + 1, 1));
  await store.close();
}

async function hold(): Promise<void> {
  await openSqliteStore({ directory });
  say('open');
  setInterval(() => undefined, 1_000);
}

async function read(): Promise<void> {
  const store = openSqliteReader({ directory });
  say('open');
  for await (const _ of createInterface({ input: process.stdin })) {
    const view = await openView(store);
    const { version } = view.head;
    const newest = await view.state(hashedPhysicalKey(resourceKey(Number(version) % KEYS, 'A')));
    say(`head ${version} state ${newest?.bytes?.toString()}`);
  }
  await store.close();
}

const roles: Readonly<Record<string, () => Promise<void>>> = {
  write: writeForEver,
  append,
  hold,
  read,
};
roles[role]!().catch((error: unknown) => {
  say(`error ${(error as { code?: unknown }).code} ${(error as Error).message}`);
  process.exitCode = 1;
});
