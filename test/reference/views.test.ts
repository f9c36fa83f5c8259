/** View functions (docs/spec/transactions.md §9.2): every recorded answer, byte for byte. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askRecorded,
  type Recorded,
  type ReferenceLedger,
  recordedLines,
  serveReferenceChain,
} from './reference-chain.ts';

const all = recordedLines<Recorded>('vectors/views.jsonl');

describe('recorded calls of view functions', () => {
  let ledger: ReferenceLedger;
  beforeAll(async () => {
    ledger = await serveReferenceChain();
  });
  afterAll(() => ledger.close());

  it('have the recorded answers', async () => {
    expect(all.length).toBe(819);
    for (const recorded of all) {
      const { ours, theirs } = await askRecorded(ledger.api, recorded);
      const { path, body, body_hex: hex } = recorded;
      expect.soft(ours, `${path} ${body ?? hex}`).toEqual(theirs);
    }
  });
});
