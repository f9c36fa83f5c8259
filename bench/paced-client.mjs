// Sends `total` requests in order, at a fixed rate or as fast as responses arrive. At a fixed rate latency counts from
// the moment a request was due, so that a server that stalls cannot hide it. Started as a child: node paced-client.mjs
// FILE with {"origin", "requests", "connections", "ratePerSecond" (0: no pace), "total"}; prints one line of JSON.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { firstAnswer, requestBytes } from './http-answer.mjs';

const { origin, requests, connections, ratePerSecond, total } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
);
const { hostname, port } = new URL(origin);
const encoded = requests.map((request) => requestBytes(hostname, request));
const latencies = [];
let sent = 0;
let failed = 0;
const idle = [];
let sayOver;
const over = new Promise((resolve) => {
  sayOver = resolve;
});

class Client {
  #socket;
  #parts = [];
  #received = 0;
  #awaited;
  #dueMs = 0;

  async open() {
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay();
    await new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve);
      this.#socket.once('error', reject);
    });
    this.#socket.on('data', (chunk) => this.#take(chunk));
    // 'close' follows and handles the error.
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      failed += 1;
      sayOver();
    });
  }

  ask(dueMs) {
    this.#dueMs = dueMs;
    this.#socket.write(encoded[sent % encoded.length]);
    sent += 1;
  }

  close() {
    this.#socket.destroy();
  }

  #take(chunk) {
    this.#parts.push(chunk);
    this.#received += chunk.length;
    this.#awaited ??= firstAnswer(this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts));
    if (this.#awaited === undefined || this.#received < this.#awaited.length) return;
    if (this.#awaited.status !== 200) failed += 1;
    latencies.push(performance.now() - this.#dueMs);
    if (latencies.length === total) sayOver();
    this.#parts = [];
    this.#received = 0;
    this.#awaited = undefined;
    if (ratePerSecond === 0 && sent < total) this.ask(performance.now());
    else idle.push(this);
  }
}

async function asFastAsAnswersCome() {
  for (const client of clients) if (sent < total) client.ask(performance.now());
  await over;
}

/** Polls the clock, because timers are too coarse. This takes a core of its own. */
async function paced() {
  idle.push(...clients);
  while (latencies.length < total && failed === 0) {
    const due = Math.min(total, ((performance.now() - startedMs) * ratePerSecond) / 1_000);
    while (sent < due && idle.length > 0) {
      idle.pop().ask(startedMs + (sent * 1_000) / ratePerSecond);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const clients = Array.from({ length: connections }, () => new Client());
await Promise.all(clients.map((client) => client.open()));
const startedMs = performance.now();
if (ratePerSecond === 0) await asFastAsAnswersCome();
else await paced();
const seconds = (performance.now() - startedMs) / 1_000;
for (const client of clients) client.close();
latencies.sort((a, b) => a - b);
const percentile = (share) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
console.log(
  JSON.stringify({
    seconds,
    requestsPerSecond: latencies.length / seconds,
    p50Ms: percentile(0.5),
    p90Ms: percentile(0.9),
    p99Ms: percentile(0.99),
    p999Ms: percentile(0.999),
    failed,
  }),
);
