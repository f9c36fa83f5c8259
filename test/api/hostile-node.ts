/**
 * A listening node over a real store, for malicious requests. None may cause a 500, block the node for a second, or
 * make it use ten times the largest body in memory.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/api/error-table.ts';
import { parseJson } from '../../src/move/json/json-text.ts';
import { someOf } from '../random.ts';
import { BODY_LIMIT_BYTES, GOOD_REQUEST } from './hostile-bodies.ts';
import { hostileModules } from './hostile-modules.ts';
import { type ModuleLedger, openModuleLedger } from './module-ledger.ts';

/** Path of encode submission. */
export const ENCODE = '/v1/transactions/encode_submission';
/** Path of decode submission. */
export const DECODE = '/v1/transactions/decode_submission';

/** Maximum processor time of one request, in milliseconds, for which it blocks others. */
const MAX_PROCESSOR_MS = 1_000;
/** A busy machine makes caches cold and garbage collections late, so the best of this many tries counts. */
const TRIES = 8;
/** Number of the largest bodies that a short run sends: each takes a second. */
const MOST_BODIES = 8;
const MAX_GROWTH_BYTES = 10 * BODY_LIMIT_BYTES;
/** Processor time of the yardstick on the machine for which the limit was chosen, in milliseconds. */
const YARDSTICK_MS = 185;
const YARDSTICK = `[${'{"a":"b","c":[1,2,3]},'.repeat(300_000)}1]`;

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const agent = new Agent({ keepAlive: true });
let ledger: ModuleLedger;

/** Opens the node, encodes something to warm it up, and closes it after the tests. */
export function useHostileNode(): void {
  beforeAll(async () => {
    ledger = await openModuleLedger(hostileModules());
    await ledger.app.port();
    expect((await post(ENCODE, Buffer.from(JSON.stringify(GOOD_REQUEST)))).status).toBe(200);
  });
  afterAll(async () => {
    agent.destroy();
    await ledger.close();
  });
}

/** Sends a body over a connection. */
export function post(path: string, body: Buffer): Promise<Reply> {
  const { port } = ledger.app.server.address() as AddressInfo;
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', method: 'POST', path, headers, agent },
      (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk));
        reply.on('end', () =>
          resolve({
            status: reply.statusCode ?? 0,
            headers: reply.headers,
            body: Buffer.concat(chunks),
          }),
        );
        reply.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Expects a 200, a 400 or a 404 with a complete body, and nothing in the log. */
export function expectOrderly({ status, body }: Reply, what: string): void {
  expect([200, 400, 404], `${what}: ${status}`).toContain(status);
  // The parser's limit on the number of values is for requests.
  const answer = parseJson(body, Number.POSITIVE_INFINITY);
  if (status !== 200) {
    expect(answer).toBeInstanceOf(Map);
    expect(ERROR_CODES).toContain((answer as ReadonlyMap<string, unknown>).get('error_code'));
  }
  expect(ledger.log.errors, what).toEqual([]);
}

const PEAK_RESET = '/proc/self/clear_refs';
const canMeasureMemory = existsSync(PEAK_RESET);

function memory(which: 'VmRSS' | 'VmHWM'): number {
  const text = readFileSync('/proc/self/status', 'utf8');
  return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(text)?.[1]) * 1024;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Processor time in milliseconds, and the maximum growth of the process in bytes. */
async function cost(path: string, body: Buffer, what: string) {
  collectGarbage();
  if (canMeasureMemory) writeFileSync(PEAK_RESET, '5');
  const before = canMeasureMemory ? memory('VmRSS') : 0;
  const start = process.cpuUsage();
  const reply = await post(path, body);
  const { user, system } = process.cpuUsage(start);
  const growthBytes = canMeasureMemory ? memory('VmHWM') - before : 0;
  expectOrderly(reply, what);
  return { processorMs: (user + system) / 1000, growthBytes };
}

/** How much slower this machine is now than the one for which the limit was chosen; at least 1. */
function slowness(): number {
  let ms = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const start = process.cpuUsage();
    JSON.parse(YARDSTICK);
    const { user, system } = process.cpuUsage(start);
    ms = Math.min(ms, (user + system) / 1000);
  }
  return Math.max(1, ms / YARDSTICK_MS);
}

/** Sends the largest bodies one by one, and measures each. */
export function describeLargestBodies(
  path: string,
  bodies: readonly (readonly [name: string, make: () => Buffer])[],
): void {
  describe('the largest bodies', () => {
    it.each(someOf(bodies, MOST_BODIES))('%s', async (name, make) => {
      const body = make();
      expect(body.length).toBeLessThanOrEqual(BODY_LIMIT_BYTES);
      let maxMs = 0;
      let [ms, bytes] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let tries = 0; tries < TRIES && (ms > maxMs || bytes > MAX_GROWTH_BYTES); tries += 1) {
        const { processorMs, growthBytes } = await cost(path, body, name);
        // Other programs come and go, so the machine is measured with each try.
        maxMs = Math.max(maxMs, MAX_PROCESSOR_MS * slowness());
        ms = Math.min(ms, processorMs);
        bytes = Math.min(bytes, growthBytes);
      }
      expect(ms).toBeLessThanOrEqual(maxMs);
      expect(bytes).toBeLessThanOrEqual(MAX_GROWTH_BYTES);
    });
  });
}
