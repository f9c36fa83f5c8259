/** Asks one of the nodes of a comparison: again where it is busy or cannot be reached for a moment. */
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE_PATH } from '../../api/http/request-target.ts';
import { retryDelayMs } from '../../ingest/feed/backoff.ts';
import { type Answer, exchange } from '../../ingest/feed/exchange.ts';
import { parseRetryAfter } from '../../ingest/feed/feed-client.ts';
import { FeedError } from '../../ingest/feed/feed-error.ts';
import type { ComparedRequest } from './compared-request.ts';

interface AskLimits {
  /** How often a request is sent in all. */
  readonly maxAttempts: number;
  /** Longest wait that a node may ask for, in milliseconds. */
  readonly maxWaitMs: number;
  /** For one answer. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

export const ASK_LIMITS: AskLimits = {
  maxAttempts: 5,
  maxWaitMs: 60_000,
  timeoutMs: 30_000,
  maxAnswerBytes: 128 * 1024 * 1024,
};

export class Asker {
  readonly #base: URL;
  readonly #limits: AskLimits;
  readonly #agent: http.Agent;
  readonly #stop = new AbortController();
  #pausedUntilMs = 0;

  /** @param base see `interfaceBase` */
  constructor(base: URL, limits: AskLimits = ASK_LIMITS) {
    this.#base = base;
    this.#limits = limits;
    const { Agent } = base.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true });
  }

  /** @returns the answer, or why there is none */
  async ask(request: ComparedRequest): Promise<Answer | string> {
    const { maxAttempts, maxWaitMs } = this.#limits;
    for (let attempt = 1; ; attempt += 1) {
      await this.#pause();
      const answer = await this.#send(request);
      const isLast = attempt === maxAttempts;
      if (answer instanceof FeedError) {
        if (isLast || answer.code === 'page_too_large') return answer.message;
        await sleep(retryDelayMs(attempt, undefined));
        continue;
      }
      const wait = waitAskedFor(answer);
      if (wait === undefined) return answer;
      if (isLast || wait > maxWaitMs) return `it is busy: status ${answer.status}`;
      const untilMs = performance.now() + retryDelayMs(attempt, wait);
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
    }
  }

  close(): void {
    this.#stop.abort();
    this.#agent.destroy();
  }

  /** A busy node is left alone by all requests. */
  async #pause(): Promise<void> {
    for (;;) {
      const leftMs = this.#pausedUntilMs - performance.now();
      if (leftMs <= 0) return;
      await sleep(leftMs);
    }
  }

  async #send({ method, path, headers, body }: ComparedRequest): Promise<Answer | FeedError> {
    const url = new URL(this.#base.href + path.slice(BASE_PATH.length));
    const sent = { ...headers, 'accept-encoding': 'identity' };
    const length = body && { 'content-length': String(body.length) };
    const { timeoutMs, maxAnswerBytes: maxBytes } = this.#limits;
    const limits = { maxBytes, silenceTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs };
    const asked = { method, headers: { ...sent, ...length }, ...(body && { body }) };
    try {
      return await exchange(url, this.#agent, asked, limits, this.#stop.signal);
    } catch (error) {
      if (error instanceof FeedError) return error;
      throw error;
    }
  }
}

/** The wait that a node asks for, in milliseconds; `undefined` for an answer. */
function waitAskedFor({ status, headers }: Answer): number | undefined {
  const asked = parseRetryAfter(headers['retry-after'], Date.now());
  if (status === 429) return asked ?? 0;
  return status === 503 ? asked : undefined;
}
