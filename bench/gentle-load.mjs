// Load at a low rate for a long time, which leaves the processor to others: it uses timers instead of polling the
// clock, and measures no latencies.
import { Agent, request as send } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONNECTIONS } from './load.mjs';

const TICK_MS = 20;

/**
 * @param {import('./load.mjs').LoadRequest[]} requests
 * @returns {Promise<{requestsPerSecond: number, errors: number}>} any response other than 200 is an error
 */
export async function gentleLoad(origin, requests, ratePerSecond, seconds) {
  const { hostname: host, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let [sent, open, answered, errors] = [0, 0, 0, 0];
  const ask = ({ method = 'GET', path, headers, body }) => {
    open += 1;
    const end = (isRight) => {
      open -= 1;
      answered += 1;
      if (!isRight) errors += 1;
    };
    const asked = send({ host, port, agent, method, path, headers }, (response) => {
      response.resume();
      response.once('end', () => end(response.statusCode === 200));
      // A response that was cut short emits no 'end', and the request emits no error.
      response.once('error', () => end(false));
    });
    asked.once('error', () => end(false));
    asked.end(body);
  };
  const startedMs = performance.now();
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - startedMs) / 1_000) {
    // Requests that a busy machine misses are not made up for.
    for (let due = (ratePerSecond * TICK_MS) / 1_000; due > 0 && open < CONNECTIONS; due -= 1) {
      ask(requests[sent % requests.length]);
      sent += 1;
    }
    await sleep(TICK_MS);
  }
  while (open > 0) await sleep(TICK_MS);
  agent.destroy();
  return { requestsPerSecond: answered / ((performance.now() - startedMs) / 1_000), errors };
}
