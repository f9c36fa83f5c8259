/** Every recorded answer of the reference's own chain, byte for byte. */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askRecorded,
  type Recorded,
  type ReferenceLedger,
  recordedLines,
  serveReferenceChain,
} from './reference-chain.ts';

describe('recorded answers of the reference', () => {
  let ledger: ReferenceLedger;
  beforeAll(async () => {
    ledger = await serveReferenceChain();
  });
  afterAll(() => ledger.close());

  for (const file of ['answers.jsonl', 'transactions.jsonl', 'state.jsonl']) {
    for (const [name, recorded] of byClass(recordedLines(file))) {
      it(`${file}: ${recorded.length} × ${name}`, async () => {
        const different: string[] = [];
        for (const request of recorded) {
          const { ours, theirs } = await askRecorded(ledger.api, request);
          if (!isDeepStrictEqual(ours, theirs)) different.push(request.path);
          // The first difference is printed in full.
          if (different.length === 1) expect.soft(ours, request.path).toEqual(theirs);
        }
        expect(different).toEqual([]);
      });
    }
  }
});

function byClass(lines: readonly Recorded[]): Map<string, Recorded[]> {
  const classes = new Map<string, Recorded[]>();
  for (const line of lines) {
    const name = line.class!;
    classes.set(name, [...(classes.get(name) ?? []), line]);
  }
  return classes;
}
