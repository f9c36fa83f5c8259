// Reads in process, without HTTP's connections: the handler of single requests, and reads of the store. BENCH_OTHER
// names the folder of another build, and BENCH_OTHER_DATA the same ledger in its store format; both are then measured
// in turns, each in a process of its own. Nothing is asked twice while there is something else.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ACCOUNT_TRANSACTIONS } from '../dist/store/columns/columns.js';
import { openHead } from '../dist/store/columns/head.js';
import { openSqliteReader } from '../dist/store/sqlite/sqlite-store.js';
import { ALLOCATOR } from './child.mjs';
import {
  accountAddresses,
  columnRows,
  eventStreams,
  randomTransactions,
  shuffled,
} from './ledger-contents.mjs';
import { randomSource, randomStateRows } from './random-keys.mjs';
import {
  allPagesRequests,
  asBcs,
  balanceRequest,
  PAGE_EVENTS,
  transactionRequest,
  viewRequest,
} from './requests.mjs';
import { sampleLedger, temporaryFolder } from './sample-ledger.mjs';
import { shownSummary, summary } from './statistics.mjs';
import { compare } from './versus.mjs';

export const name = 'reads';
export const title = 'Reads in process: processor time of a handler and of the store';

const CHILD = fileURLToPath(new URL('./reads-child.mjs', import.meta.url));
const MAX_KEYS = 100_000;
const MAX_STATE_ROWS = 10_000;
/** Reads that are compared before they are measured. */
const COMPARED = 50;
/** Reads of a turn, and those of them that take some hundred times as long as others. */
const READS = 4_096;
const LONG_READS = 64;
const LONG = ['state, 1,000 rows'];
const WARM_UP_TURNS = 3;
const COIN = '0x1::aptos_coin::AptosCoin';
const ACCOUNT = '0x1::account::Account';

/** What is asked of the handler, by name. */
async function requestsOf(data, { owners, transactions, senders }) {
  const streams = await eventStreams(data, Number.POSITIVE_INFINITY);
  const short = streams.filter(({ events }) => events < PAGE_EVENTS);
  const byVersion = transactions.map(({ version }) => transactionRequest(`by_version/${version}`));
  const byHash = transactions.map(({ hash }) => transactionRequest(`by_hash/${hash}`));
  const ofOwners = (requestOf) => owners.map((owner) => requestOf(`0x${owner}`));
  return {
    balance: owners.map((owner) => balanceRequest(owner)),
    account: ofOwners((owner) => ({ path: `/v1/accounts/${owner}` })),
    resource: ofOwners((owner) => ({ path: `/v1/accounts/${owner}/resource/${ACCOUNT}` })),
    'short page of events': shuffled(short.flatMap(allPagesRequests)).slice(0, MAX_KEYS),
    'transaction by version': byVersion,
    'transaction by version, BCS': asBcs(byVersion),
    'transaction by hash, BCS': asBcs(byHash),
    'newest 25 of an account, BCS': asBcs(
      senders.map((sender) => ({ path: `/v1/accounts/0x${sender}/transactions?limit=25` })),
    ),
    'view coin::balance': ofOwners((owner) => viewRequest('0x1::coin::balance', [COIN], [owner])),
  };
}

/** Senders with a page of transactions or more, and with fewer. */
async function sendersOf(store) {
  const counts = new Map();
  for await (const { partition } of columnRows(store, ACCOUNT_TRANSACTIONS)) {
    const sender = partition.toString('hex');
    counts.set(sender, (counts.get(sender) ?? 0) + 1);
  }
  const all = shuffled([...counts]);
  const named = (rows) => rows.slice(0, MAX_KEYS).map(([sender]) => sender);
  return {
    senders: named(all.filter(([, count]) => count >= 25)),
    few: named(all.filter(([, count]) => count < 25)),
  };
}

/** Without those that `more-accounts.mjs` has repeated: each of them is found by the hash of all. */
function withOwnHash(transactions) {
  const counts = new Map();
  for (const { hash } of transactions) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  return transactions.filter(({ hash }) => counts.get(hash) === 1);
}

/** What is read, by the name of the read. */
async function readsOf(data) {
  const { addresses } = await accountAddresses(data, MAX_KEYS);
  const owners = shuffled(addresses);
  const transactions = withOwnHash(await randomTransactions(data, MAX_KEYS));
  const store = openSqliteReader({ directory: data });
  const rows = await randomStateRows(store, MAX_STATE_ROWS);
  const { senders, few } = await sendersOf(store);
  const { version: newest } = await openHead(store);
  await store.close();
  const random = randomSource(3);
  const hashOf = () => Buffer.from(Uint32Array.from({ length: 8 }, random).buffer).toString('hex');
  const none = Array.from({ length: MAX_STATE_ROWS }, hashOf);
  const keys = rows.map(({ keyHash, version }) => ({
    key: keyHash.toString('hex'),
    version: String(version + (BigInt(random()) % (newest - version + 1n))),
  }));
  const versions = transactions.map(({ version }) => String(version));
  return {
    ...(await requestsOf(data, { owners, transactions, senders })),
    ...{ 'state, newest': keys, 'state, older': keys, 'state, none': none },
    'version of a hash': transactions.map(({ hash }) => hash.slice(2)),
    'version of no hash': none,
    ...{ 'newest 25 of a sender': senders, 'newest 25 of one with few': few },
    ...{ 'info of a version': versions, 'transaction of a version': versions },
    'state, 1,000 rows': none,
  };
}

async function startReader(build, data, file) {
  const env = { ...ALLOCATOR, ...process.env, NODE_ENV: 'production' };
  const child = fork(CHILD, [build, data, file], { env });
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`reads of ${build} ended with ${code}`);
  });
  failed.catch(() => undefined);
  const answer = async () => (await Promise.race([once(child, 'message'), failed]))[0];
  await answer();
  return {
    ask: (asked) => {
      child.send(asked);
      return answer();
    },
    stop: () => child.kill(),
  };
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const data = await sampleLedger();
  const { BENCH_OTHER: other, BENCH_OTHER_DATA: otherData = data } = process.env;
  const reads = await readsOf(data);
  const file = join(temporaryFolder(), 'reads.json');
  writeFileSync(file, JSON.stringify(reads));
  const readers = [await startReader('.', data, file)];
  if (other !== undefined) readers.push(await startReader(other, otherData, file));
  const results = [];
  try {
    for (const [read, { length }] of Object.entries(reads)) {
      if (length === 0) continue;
      const checked = { name: read, count: COMPARED, isCheck: true };
      const [ours, theirs = ours] = await Promise.all(readers.map(({ ask }) => ask(checked)));
      if (ours !== theirs) throw new Error(`${read}: the builds answer differently`);
      const count = LONG.includes(read) ? LONG_READS : READS;
      const turns = readers.map(
        ({ ask }) =>
          () =>
            ask({ name: read, count }),
      );
      for (const turn of turns) for (let at = 0; at < WARM_UP_TURNS; at += 1) await turn();
      if (turns.length === 2) {
        results.push(await compare(read, 'µs', turns, rounds, log));
        continue;
      }
      const micros = [];
      for (let round = 0; round < rounds; round += 1) micros.push(await turns[0]());
      results.push({ what: read, unit: 'µs', ours: summary(micros) });
      log(`${read.padEnd(28)} ${shownSummary(summary(micros))} µs`);
    }
  } finally {
    for (const { stop } of readers) stop();
  }
  return { results };
}
