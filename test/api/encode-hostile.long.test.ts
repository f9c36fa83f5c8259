/** Malicious requests to encode submission (hostile-node.ts has the requirements). */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { propertySeed, roundsOf } from '../random.ts';
import { ENCODE_BODIES } from './hostile-bodies.ts';
import { almost, damaged, json } from './hostile-json.ts';
import {
  DECODE,
  describeLargestBodies,
  ENCODE,
  expectOrderly,
  post,
  useHostileNode,
} from './hostile-node.ts';

const REQUESTS = roundsOf('REQUESTS', 100, 400);

useHostileNode();
describeLargestBodies(ENCODE, ENCODE_BODIES);

describe('random bodies', () => {
  it.each([
    ['any JSON', json.map((text) => Buffer.from(text))],
    ['requests that are almost right', almost.map((text) => Buffer.from(text))],
    ['damaged requests', damaged],
    ['bytes', fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes))],
  ])('%s', async (what, bodies) => {
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        for (const path of [ENCODE, DECODE]) expectOrderly(await post(path, body), what);
      }),
      { ...propertySeed(), numRuns: REQUESTS },
    );
  });
});
