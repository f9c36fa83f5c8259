// Reads of one build in a process of its own, as reads.mjs asks for them: BUILD DATA FILE, which has what is asked.
// Each message names a read and how many; the answer is the processor time of one, in microseconds, of all threads.
// Requests go through the handler, without a connection.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Reads in one turn of the event loop, as many connections bring them. */
const AT_ONCE = 32;
/** In which every read has been answered. */
const TURNS = 10;

const [build, directory, file] = process.argv.slice(2);
const load = (path) => import(resolve(build, 'dist', path));
const columns = await load('store/columns/columns.js');
const { encodeBucketKey, encodeU64Key } = await load('store/columns/order-key.js');
const { openSqliteReader } = await load('store/sqlite/sqlite-store.js');
const { openView } = await load('store/view.js');
const { openLedger } = await load('ledger/open.js');
const { buildApi } = await load('api/http/server.js');
const { nodeSettingsWith } = await load('node/settings/settings.js');

const asked = JSON.parse(readFileSync(file, 'utf8'));
const store = openSqliteReader({ directory });
const view = await openView(store);
const unbounded = { maxReadBacklogMs: 0, maxListingBacklogMs: 0, maxBodyBacklogMs: 0 };
const api = buildApi(
  openLedger(store),
  { ...(await nodeSettingsWith({})), ...unbounded },
  { error: console.error, warn: console.error },
);

const { ACCOUNT_TRANSACTIONS, STATE, TRANSACTION_INFOS, TRANSACTIONS } = columns;
const newest = encodeU64Key(view.head.version);
const bytes = (hex) => Buffer.from(hex, 'hex');
const state = ({ key, version }) => [bytes(key), encodeU64Key(BigInt(version))];
const byVersion = (version) => Object.values(encodeBucketKey(BigInt(version)));
const sentBy = (limit) => (sender) =>
  store.range(ACCOUNT_TRANSACTIONS, sender, { limit, reverse: true });
const scanFrom = (partition) => {
  const after = { partition, order: newest };
  return store.scan(STATE, { after, maxRows: 1_000, maxBytes: 4 * 1024 * 1024 });
};

/** Reads of the store: how what is asked becomes arguments, and the read. */
const READS = {
  'state, newest': [({ key }) => bytes(key), (key) => store.seekLast(STATE, key, newest)],
  'state, older': [state, ([key, order]) => store.seekLast(STATE, key, order)],
  'state, none': [bytes, (key) => store.seekLast(STATE, key, newest)],
  'state, 1,000 rows': [bytes, scanFrom],
  'version of a hash': [bytes, (hash) => view.versionOfHash(hash)],
  'version of no hash': [bytes, (hash) => view.versionOfHash(hash)],
  'newest 25 of a sender': [bytes, sentBy(25)],
  'newest 25 of one with few': [bytes, sentBy(25)],
  'info of a version': [byVersion, ([at, order]) => store.get(TRANSACTION_INFOS, at, order)],
  'transaction of a version': [byVersion, ([at, order]) => store.get(TRANSACTIONS, at, order)],
};

let written = '';
ServerResponse.prototype._writeRaw = (data) => {
  written += data;
  return true;
};
const socket = new Socket();

function exchange({ method = 'GET', path, headers = {}, body }) {
  const request = new IncomingMessage(socket);
  Object.assign(request, { method, url: path, httpVersion: '1.1' });
  Object.assign(request, { httpVersionMajor: 1, httpVersionMinor: 1 });
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  const list = ['host', 'bench', ...Object.entries(headers).flat(), ...length];
  request._addHeaderLines(list, list.length);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = true;
  return { request, response, body: body && Buffer.from(body) };
}

function handle({ request, response, body }) {
  api.handle(request, response);
  if (body === undefined) return;
  request.push(body);
  request.complete = true;
  request.push(null);
}

const digest = (value) => createHash('sha256').update(value).digest('hex');

/** How a read is prepared, made, and what is compared of it. */
function readOf(name) {
  const found = READS[name];
  if (found === undefined) return { prepare: exchange, read: handle, isRequest: true };
  const [prepare, read] = found;
  return { prepare, read, isRequest: false };
}

const places = new Map();

/** Reads what comes next of what is asked: nothing twice before everything was read. */
async function measure(name, count) {
  const { prepare, read, isRequest } = readOf(name);
  const all = asked[name];
  let place = places.get(name) ?? 0;
  let micros = 0;
  for (let done = 0; done < count; done += AT_ONCE) {
    const subjects = [];
    for (; subjects.length < AT_ONCE; place += 1) subjects.push(prepare(all[place % all.length]));
    written = '';
    const before = process.cpuUsage();
    for (const subject of subjects) {
      read(subject);
      // A connection's next request comes when all that goes on at once is done.
      if (isRequest) await new Promise(process.nextTick);
    }
    await nextTurn();
    const { user, system } = process.cpuUsage(before);
    micros += user + system;
  }
  places.set(name, place);
  return micros / count;
}

/** A digest of some answers. */
async function answers(name, count) {
  const { prepare, read, isRequest } = readOf(name);
  const found = [];
  for (const one of asked[name].slice(-count)) {
    written = '';
    const subject = prepare(one);
    const answer = await read(subject);
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
    const status = isRequest ? subject.response.statusCode : 200;
    if (status !== 200) throw new Error(`${one.path}: ${status}`);
    const text = (_key, value) => (typeof value === 'bigint' ? String(value) : value);
    found.push(isRequest ? written.replace(/date: .*/i, '') : JSON.stringify(answer ?? '', text));
  }
  return digest(found.join('\n'));
}

process.on('message', async ({ name, count, isCheck }) => {
  process.send(isCheck ? await answers(name, count) : await measure(name, count));
});
process.send('ready');
