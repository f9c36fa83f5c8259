/**
 * The ledger's state, asked for again and again while the page can be seen (GET /v1, docs/spec/http.md
 * §1.3). Nothing is asked while the page is hidden; after a failure the waits grow.
 */

import { useEffect, useState } from 'preact/hooks';
import { JsonNumber, type JsonValue } from '../../src/move/json/json-text.ts';
import { type ApiAnswer, ApiFailure, send } from './api-client.ts';
import { field, parseJson, textField } from './json-fields.ts';
import { LEDGER_STATE_REQUEST } from './ledger-requests.ts';

/** Pause between an answer and the next question. */
export const POLL_INTERVAL_MS = 2000;
/** Longest pause after failures; it doubles from POLL_INTERVAL_MS. */
export const MAX_POLL_INTERVAL_MS = 30_000;
/** Versions per second are measured over at most this long. */
export const RATE_WINDOW_MS = 30_000;
/** A ledger whose last block is older than this, and that has not grown lately, does not grow. */
export const STALE_MS = 60_000;

/** The index, as it came: integers as decimal texts. */
export interface LedgerInfo {
  readonly chainId: string;
  readonly epoch: string;
  readonly version: bigint;
  readonly oldestVersion: bigint;
  readonly timestampUsecs: bigint;
  readonly nodeRole: string;
  readonly oldestBlockHeight: string;
  readonly blockHeight: string;
  readonly gitHash: string;
  readonly encryptionKey: string | undefined;
}

/** What is known now. `info` is the last answer, also while paused or unreachable. */
export interface LiveState {
  readonly status: 'connecting' | 'live' | 'idle' | 'paused' | 'unreachable';
  readonly info?: LedgerInfo;
  readonly answer?: ApiAnswer;
  readonly failure?: ApiFailure;
  /** Versions per second lately; undefined until two answers are known. */
  readonly versionsPerSecond?: number;
}

interface Measurement {
  readonly timeMs: number;
  readonly version: bigint;
}

/** Polls from `start` on and tells listeners of every change. */
class LiveLedger {
  #state: LiveState = { status: 'connecting' };
  #measurements: Measurement[] = [];
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #polling = false;
  readonly #listeners = new Set<(state: LiveState) => void>();

  get state(): LiveState {
    return this.#state;
  }

  /** Begins; to be called once. */
  start(): void {
    document.addEventListener('visibilitychange', () => this.#visibilityChanged());
    this.#visibilityChanged();
  }

  /** Calls `listener` at every change, until the result is called. */
  subscribe(listener: (state: LiveState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #visibilityChanged(): void {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#measurements = [];
      this.#tell({ ...this.#state, status: 'paused' });
    } else {
      void this.#poll();
    }
  }

  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    try {
      const answer = await send(LEDGER_STATE_REQUEST, new AbortController().signal);
      const info = readLedgerInfo(answer);
      this.#failures = 0;
      const versionsPerSecond = this.#measure(info.version);
      const ageMs = Date.now() - Number(info.timestampUsecs / 1000n);
      this.#tell({
        status: ageMs < STALE_MS || (versionsPerSecond ?? 0) > 0 ? 'live' : 'idle',
        info,
        answer,
        ...(versionsPerSecond === undefined ? {} : { versionsPerSecond }),
      });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      this.#failures += 1;
      this.#measurements = [];
      const { info, answer } = this.#state;
      const known = info === undefined || answer === undefined ? {} : { info, answer };
      this.#tell({ ...known, status: 'unreachable', failure: error });
    } finally {
      this.#polling = false;
      this.#schedule();
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#tell({ ...this.#state, status: 'paused' });
      return;
    }
    const waitMs = Math.min(POLL_INTERVAL_MS * 2 ** this.#failures, MAX_POLL_INTERVAL_MS);
    this.#timer = setTimeout(() => void this.#poll(), waitMs);
  }

  #measure(version: bigint): number | undefined {
    const timeMs = performance.now();
    this.#measurements.push({ timeMs, version });
    this.#measurements = this.#measurements.filter(
      (measurement) => timeMs - measurement.timeMs <= RATE_WINDOW_MS,
    );
    const first = this.#measurements[0]!;
    if (timeMs === first.timeMs) return undefined;
    return (Number(version - first.version) * 1000) / (timeMs - first.timeMs);
  }

  #tell(state: LiveState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** The one that the page follows. */
export const live = new LiveLedger();

/** The state, rendered at every change. */
export function useLive(): LiveState {
  const [state, setState] = useState(live.state);
  useEffect(() => {
    setState(live.state);
    return live.subscribe(setState);
  }, []);
  return state;
}

/** Reads the index. @throws ApiFailure with code `unreadable_answer` when it is not one. */
function readLedgerInfo(answer: ApiAnswer): LedgerInfo {
  try {
    const json = parseJson(answer.text);
    const chainId = field(json, 'chain_id');
    return {
      chainId: chainId instanceof JsonNumber ? chainId.text : '?',
      epoch: textField(json, 'epoch') ?? '?',
      version: u64Field(json, 'ledger_version'),
      oldestVersion: u64Field(json, 'oldest_ledger_version'),
      timestampUsecs: u64Field(json, 'ledger_timestamp'),
      nodeRole: textField(json, 'node_role') ?? '?',
      oldestBlockHeight: textField(json, 'oldest_block_height') ?? '?',
      blockHeight: textField(json, 'block_height') ?? '?',
      gitHash: textField(json, 'git_hash') ?? '',
      encryptionKey: textField(json, 'encryption_key'),
    };
  } catch (cause) {
    const { request, status, elapsedMs } = answer;
    const message = `GET /v1 did not answer a ledger's state: ${(cause as Error).message}`;
    throw new ApiFailure(
      request,
      { status, code: 'unreadable_answer', message, elapsedMs },
      { cause },
    );
  }
}

function u64Field(json: JsonValue, name: string): bigint {
  const text = textField(json, name);
  if (text === undefined) throw new RangeError(`${name} is no string`);
  return BigInt(text);
}
