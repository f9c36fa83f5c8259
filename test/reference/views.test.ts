/**
 * View functions (docs/spec/transactions.md §9.2): every recorded answer that can be given without running code, byte
 * for byte; the others are refused.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FRAMEWORK_VIEWS } from '../../src/ledger/views/framework-views.ts';
import { readViewCall } from '../../src/ledger/views/view-request.ts';
import { formatStructPath } from '../../src/move/types/move-type.ts';
import {
  askRecorded,
  type Recorded,
  type ReferenceLedger,
  recordedLines,
  serveReferenceChain,
} from './reference-chain.ts';

const all = recordedLines('vectors/views.jsonl');
const REFUSAL = JSON.stringify({
  message:
    'This view function is disabled on this endpoint: this node runs no code and answers only plain ' +
    'reads of today’s framework; with --upstream URL it passes such requests on to a node that can',
  error_code: 'api_disabled',
  vm_error_code: null,
});

/** The function of a call that was made. */
function functionOf({ body, body_hex: hex }: Recorded): string {
  if (body !== undefined) return (JSON.parse(body) as { function: string }).function;
  const { module, name } = readViewCall(Buffer.from(hex!, 'hex'));
  return formatStructPath(module, name);
}

/** Status codes of what happens inside a function: something is missing, it aborts, an index is out of bounds. */
const IN_CODE = new Set([4008, 4016, 4018]);

/** Whether only running the function gives the recorded answer. */
function isRun({ answer }: Recorded): boolean {
  if (answer.status === 200) return true;
  const { vm_error_code: code } = JSON.parse(answer.body!) as { vm_error_code: number | null };
  return code !== null && IN_CODE.has(code);
}

describe('recorded calls of view functions', () => {
  let ledger: ReferenceLedger;
  beforeAll(async () => {
    ledger = await serveReferenceChain();
  });
  afterAll(() => ledger.close());

  it('have the recorded answers, or one that says that this node runs no code', async () => {
    let equal = 0;
    for (const recorded of all) {
      const { ours, theirs } = await askRecorded(ledger.api, recorded);
      if (isDeepStrictEqual(ours, theirs)) {
        equal += 1;
        continue;
      }
      const name = functionOf(recorded);
      expect.soft(FRAMEWORK_VIEWS.has(name.replace(/^0x1::/, '')), name).toBe(false);
      expect.soft(isRun(recorded), JSON.stringify([recorded, ours])).toBe(true);
      const { body } = ours as { body: string };
      const isBinary = recorded.answer.body_hex !== undefined;
      expect.soft(isBinary ? Buffer.from(body, 'hex').toString() : body).toBe(REFUSAL);
    }
    expect([all.length, equal]).toEqual([819, 330]);
  });
});
