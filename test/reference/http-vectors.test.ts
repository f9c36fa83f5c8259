/**
 * Requests that were sent to a reference node on another ledger, most of them invalid, with its answers. `{head}` is
 * the newest version.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  LEDGER_HEADERS,
  NEWEST_VERSION,
  type ReferenceLedger,
  recordedLines,
  serveReferenceChain,
} from './reference-chain.ts';

interface HttpVector {
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  readonly content_type: string | null;
  readonly answer?: string;
  readonly answer_hex?: string;
  /** What the node needs for this answer. */
  readonly needs?: string;
}

/** Intended differences (docs/differences.md), by request, with reasons. */
const DIFFERENCES: readonly (readonly [asked: RegExp, why: string])[] = [
  [/"Origin"/, 'errors with an Origin header are JSON'],
  [/set_failpoint/, 'this node has no failpoints'],
];

let ledger: ReferenceLedger;
beforeAll(async () => {
  ledger = await serveReferenceChain();
});
afterAll(() => ledger.close());

const vectors = recordedLines<HttpVector>('vectors/transactions.jsonl').filter(
  ({ kind, needs }) => kind === 'http' && needs !== 'submission switched on',
);

it('are all here', () => expect(vectors.length).toBe(222));

vectors.forEach((vector, index) => {
  const { method, path, headers, body, status, content_type, answer, answer_hex } = vector;
  const asked = [method, path, JSON.stringify(headers), body?.slice(0, 200)].join(' ');
  const different = DIFFERENCES.find(([pattern]) => pattern.test(asked));
  if (different !== undefined) return;
  it(`${index}: ${asked}`, async () => {
    const url = withHead(path);
    const reply = await ledger.api.request({ method, url, headers, body });
    expect({
      status: reply.statusCode,
      contentType: reply.headers['content-type'] ?? null,
      body: answer_hex === undefined ? reply.body : reply.bytes.toString('hex'),
    }).toEqual({
      status,
      contentType: content_type,
      body: answer_hex ?? withHead(answer!),
    });
    if (url !== '/v1/info') expect(reply.headers).toMatchObject(LEDGER_HEADERS);
  });
});

function withHead(text: string): string {
  return text
    .replaceAll('{head+1}', String(NEWEST_VERSION + 1))
    .replaceAll('{head}', String(NEWEST_VERSION));
}
