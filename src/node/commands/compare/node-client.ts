/** Sends requests to one of the two nodes; retries while it is busy or briefly unreachable. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE_PATH } from '../../../api/request-target.ts';
import type { Answer } from '../../../remote/answer.ts';
import { RemoteError } from '../../../remote/remote-error.ts';
import { RemoteServer } from '../../../remote/remote-server.ts';
import { parseRetryAfter, retried } from '../../../remote/retry.ts';
import type { ComparedRequest } from './compared-request.ts';

const CLIENT_LIMITS = {
  maxAttempts: 5,
  /** Longest wait that a node may ask for, in milliseconds. */
  maxWaitMs: 60_000,
  timeoutMs: 30_000,
  maxAnswerBytes: 128 * 1024 * 1024,
};

export class NodeClient {
  readonly #server: RemoteServer;
  readonly #limits: typeof CLIENT_LIMITS;
  #pausedUntilMs = 0;

  constructor(base: URL, limits = CLIENT_LIMITS) {
    this.#server = new RemoteServer(base);
    this.#limits = limits;
  }

  /** @returns the answer, or why it is missing */
  async send(request: ComparedRequest): Promise<Answer | string> {
    try {
      return await retried(() => this.#sendOnce(request), this.#limits.maxAttempts);
    } catch (error) {
      if (error instanceof RemoteError) return error.message;
      throw error;
    }
  }

  close(): void {
    this.#server.close();
  }

  async #sendOnce({ path, ...request }: ComparedRequest): Promise<Answer> {
    const { timeoutMs, maxAnswerBytes: maxBytes, maxWaitMs } = this.#limits;
    // All requests wait while the node is busy.
    while (performance.now() < this.#pausedUntilMs) {
      await sleep(this.#pausedUntilMs - performance.now());
    }
    const url = this.#server.url(path.slice(BASE_PATH.length));
    const timeouts = { silenceTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs };
    const answer = await this.#server.send({ url, ...request }, { maxBytes, ...timeouts });
    const retryAfterMs = retryAfterOf(answer);
    if (retryAfterMs === undefined) return answer;
    const message = `it is busy: status ${answer.status}`;
    if (retryAfterMs > maxWaitMs) throw new RemoteError('upstream_refused', message);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + retryAfterMs);
    throw new RemoteError('upstream_busy', message, { retryAfterMs });
  }
}

/** The wait that a node asks for, in milliseconds; `undefined` for an answer. */
function retryAfterOf({ status, headers }: Answer): number | undefined {
  const retryAfterMs = parseRetryAfter(headers['retry-after']);
  if (status === 429) return retryAfterMs ?? 0;
  return status === 503 ? retryAfterMs : undefined;
}
