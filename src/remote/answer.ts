/** Answers of other nodes and their ledger headers (docs/spec/http.md §3.1). */
import type { IncomingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** In its own memory, so that it can be transferred to another thread. */
  readonly body: Buffer<ArrayBuffer>;
}

export const BCS_TYPE = 'application/x-bcs';
export const JSON_TYPE = 'application/json';

/** The state of a node's ledger, as far as its headers contain it. */
export interface LedgerState {
  readonly chainId: number | undefined;
  readonly ledgerVersion: bigint | undefined;
  readonly oldestVersion: bigint | undefined;
}

/** Maximum bytes of an error's body that a message shows. */
const MAX_EXCERPT_BYTES = 300;

/** The value of an API header with any prefix: `cursor` finds `x-node-cursor`. */
export function nodeHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const found = Object.keys(headers).find(
    (one) => one.startsWith('x-') && one.endsWith(`-${name}`),
  );
  return found && String(headers[found]);
}

export function ledgerState(headers: IncomingHttpHeaders): LedgerState {
  const number = (name: string): bigint | undefined => {
    const value = nodeHeader(headers, name) ?? '';
    return /^\d{1,20}$/.test(value) ? BigInt(value) : undefined;
  };
  const chainId = number('chain-id');
  return {
    chainId: chainId === undefined ? undefined : Number(chainId),
    ledgerVersion: number('ledger-version'),
    oldestVersion: number('ledger-oldest-version'),
  };
}

/** The content type without its parameters, in lower case. */
export function mediaTypeOf({ headers }: Pick<Answer, 'headers'>): string {
  const [mediaType = ''] = headers['content-type']?.split(';') ?? [];
  return mediaType.trim().toLowerCase();
}

/** The beginning of a body as one line of plain text. */
export function excerptOf(body: Buffer): string {
  const text = body.toString('utf8', 0, MAX_EXCERPT_BYTES);
  return text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
}
