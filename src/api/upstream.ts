/**
 * The upstream: another node of the same chain, which submits and simulates for this node. Requests and answers are
 * passed on unchanged, except that answers get the ledger headers of this node.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { ForeignTransaction } from '../ledger/transactions/pending.ts';

export interface ForwardedRequest {
  readonly operationId: string;
  /** Below `/v1`. */
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

export interface UpstreamAnswer {
  readonly status: number;
  /** Absent only without a body. */
  readonly contentType: string | undefined;
  readonly gasUsed: string | undefined;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
}

export interface Upstream {
  readonly origin: string;
  /**
   * Passes a request on.
   * @param chainId of this node's ledger; an upstream of another chain is refused
   * @param signal ends it when the client has gone
   * @throws ApiError 503 if the upstream gives no valid answer of a node, or too many requests wait for one; the
   *   signal's reason
   */
  forward(request: ForwardedRequest, chainId: number, signal: AbortSignal): Promise<UpstreamAnswer>;
  /**
   * Requests the transaction with a hash; undefined if the upstream has none.
   * @param headers of the request that this node is answering
   * @throws ApiError 503 as `forward`
   */
  transactionByHash(
    hash: Uint8Array,
    chainId: number,
    headers: IncomingHttpHeaders,
  ): Promise<ForeignTransaction | undefined>;
}
