// A client that keeps a number of connections busy and counts accepted and refused requests separately (wrk adds them
// up). Started as a child: node closed-loop.mjs ORIGIN PATH CONNECTIONS SECONDS [ADDRESS], prints one line of JSON;
// ADDRESS is the client's own address.
import { connect } from 'node:net';
import { firstAnswer, requestBytes } from './http-answer.mjs';

const [origin, path, connections, seconds, localAddress] = process.argv.slice(2);
const { hostname, port } = new URL(origin);
const request = requestBytes(hostname, { path, headers: { accept: 'application/x-bcs' } });
const accepted = [];
let refused = 0;
/** Responses that are neither 200 nor a refusal with a time to retry. */
let wrong = 0;
let failed = 0;
/** Responses in the first two seconds are not counted: the load is still ramping up. */
const START_MS = 2_000;
let countedFromMs = Number.POSITIVE_INFINITY;
let endMs = Number.POSITIVE_INFINITY;
/**
 * Functions that start the clients that have had a first response: an overloaded process accepts one connection per
 * turn.
 */
const starts = [];

function client(isReady) {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: hostname, localAddress });
    let parts = [];
    let received = 0;
    let awaited;
    let askedMs = 0;
    let isFirst = true;
    const ask = () => {
      askedMs = performance.now();
      socket.write(request);
    };
    socket.on('connect', ask);
    socket.on('data', (chunk) => {
      parts.push(chunk);
      received += chunk.length;
      awaited ??= firstAnswer(parts.length === 1 ? chunk : Buffer.concat(parts));
      if (awaited === undefined || received < awaited.length) return;
      const nowMs = performance.now();
      if (nowMs >= countedFromMs) {
        const { status, saysWhen } = awaited;
        if (status === 503 && saysWhen) refused += 1;
        else if (status === 200) accepted.push(nowMs - askedMs);
        else wrong += 1;
      }
      parts = [];
      received = 0;
      awaited = undefined;
      if (isFirst) {
        isFirst = false;
        starts.push(ask);
        isReady();
      } else if (nowMs >= endMs) socket.end();
      else ask();
    });
    socket.on('error', () => {
      failed += 1;
      isReady();
    });
    socket.on('close', resolve);
  });
}

const ended = [];
const ready = Array.from({ length: Number(connections) }, () => {
  return new Promise((isReady) => ended.push(client(isReady)));
});
await Promise.all(ready);
countedFromMs = performance.now() + START_MS;
endMs = performance.now() + Number(seconds) * 1_000;
for (const start of starts) start();
await Promise.all(ended);
accepted.sort((a, b) => a - b);
const percentile = (share) =>
  accepted[Math.min(accepted.length - 1, Math.floor(accepted.length * share))];
const countedSecs = Number(seconds) - START_MS / 1_000;
console.log(
  JSON.stringify({
    acceptedPerSecond: accepted.length / countedSecs,
    refusedPerSecond: refused / countedSecs,
    failed,
    wrong,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
  }),
);
