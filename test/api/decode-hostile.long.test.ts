/** Malicious requests to decode submission (hostile-node.ts has the requirements). */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { propertySeed, roundsOf } from '../random.ts';
import { DECODE_BODIES, GOOD_REQUEST } from './hostile-bodies.ts';
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
describeLargestBodies(DECODE, DECODE_BODIES);

function quotedHex(bytes: Uint8Array): Buffer {
  return Buffer.from(JSON.stringify(Buffer.from(bytes).toString('hex')));
}

describe('random messages', () => {
  it('any hex', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), async (bytes) => {
        expectOrderly(await post(DECODE, quotedHex(bytes)), 'hex');
      }),
      { ...propertySeed(), numRuns: REQUESTS },
    );
  });

  it('signing messages with a byte changed', async () => {
    const { body } = await post(ENCODE, Buffer.from(JSON.stringify(GOOD_REQUEST)));
    const message = Buffer.from(JSON.parse(body.toString()).slice(2), 'hex');
    await fc.assert(
      fc.asyncProperty(fc.nat(message.length - 33), fc.nat(255), async (at, value) => {
        const changed = Buffer.from(message);
        changed[32 + at] = value;
        expectOrderly(await post(DECODE, quotedHex(changed)), 'a changed message');
      }),
      { ...propertySeed(), numRuns: REQUESTS },
    );
  });
});
