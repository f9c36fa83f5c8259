/**
 * The ledger's state, asked for again and again while the page can be seen (GET /v1, docs/spec/http.md §1.3). Nothing
 * is asked while the page is hidden; after a failure the waits grow.
 */
import { useEffect, useState } from 'preact/hooks';
import type { LedgerInfo } from './answers.ts';
import { type ApiAnswer, ApiFailure, send } from './api-client.ts';
import { parseJson } from './exact-json.ts';
import { readU64 } from './number-text.ts';
import { LEDGER_STATE_REQUEST } from './requests.ts';

/** Pause between an answer and the next question. */
export const POLL_INTERVAL_MS = 2000;
/** Longest pause after failures; it doubles from POLL_INTERVAL_MS. */
const MAX_POLL_INTERVAL_MS = 30_000;
/** Versions per second are measured over at most this long. */
const RATE_WINDOW_MS = 30_000;
/** A ledger whose last block is older than this, and that has not grown lately, does not grow. */
const STALE_MS = 60_000;

/** What is known now. `info` is the last answer, also while paused or unreachable. */
export interface LiveState {
  readonly status: 'connecting' | 'live' | 'idle' | 'paused' | 'unreachable';
  readonly info?: LedgerInfo;
  readonly answer?: ApiAnswer;
  readonly failure?: ApiFailure | undefined;
  /** Versions per second lately; undefined until two answers are known. */
  readonly versionsPerSecond?: number | undefined;
}

let state: LiveState = { status: 'connecting' };
const listeners = new Set<(state: LiveState) => void>();
let measurements: { readonly timeMs: number; readonly version: number }[] = [];
let failures = 0;
let isPolling = false;
let timer: ReturnType<typeof setTimeout> | undefined;

function tell(change: Partial<LiveState>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener(state);
}

/** Polls now and then again and again, or pauses while the page is hidden. */
async function poll(): Promise<void> {
  clearTimeout(timer);
  if (document.hidden) {
    measurements = [];
    tell({ status: 'paused' });
  }
  if (document.hidden || isPolling) return;
  isPolling = true;
  try {
    const answer = await send(LEDGER_STATE_REQUEST, new AbortController().signal);
    const info = readInfo(answer);
    failures = 0;
    const versionsPerSecond = measure(Number(info.ledger_version));
    const ageMs = Date.now() - Number(info.ledger_timestamp) / 1000;
    const status = ageMs < STALE_MS || (versionsPerSecond ?? 0) > 0 ? 'live' : 'idle';
    tell({ status, info, answer, versionsPerSecond, failure: undefined });
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    failures += 1;
    measurements = [];
    tell({ status: 'unreachable', failure: error, versionsPerSecond: undefined });
  } finally {
    isPolling = false;
    if (document.hidden) tell({ status: 'paused' });
    else timer = setTimeout(poll, Math.min(POLL_INTERVAL_MS * 2 ** failures, MAX_POLL_INTERVAL_MS));
  }
}

/** Begins; to be called once. */
export function startPolling(): void {
  document.addEventListener('visibilitychange', poll);
  void poll();
}

/** The state, rendered at every change. */
export function useLive(): LiveState {
  const [shown, setShown] = useState(state);
  useEffect(() => {
    setShown(state);
    listeners.add(setShown);
    return () => void listeners.delete(setShown);
  }, []);
  return shown;
}

function measure(version: number): number | undefined {
  const timeMs = performance.now();
  measurements = [...measurements, { timeMs, version }].filter(
    (one) => timeMs - one.timeMs <= RATE_WINDOW_MS,
  );
  const first = measurements[0]!;
  return timeMs === first.timeMs
    ? undefined
    : ((version - first.version) * 1000) / (timeMs - first.timeMs);
}

/** @throws ApiFailure with code `unreadable_answer` when it is no ledger's state */
function readInfo({ request, status, text }: ApiAnswer): LedgerInfo {
  let why: unknown = 'a number is missing';
  try {
    const info = parseJson<LedgerInfo>(text);
    const { ledger_version, oldest_ledger_version, ledger_timestamp } = info;
    const numbers = [ledger_version, oldest_ledger_version, ledger_timestamp];
    if (numbers.every((number) => readU64(String(number)) !== undefined)) return info;
  } catch (error) {
    why = (error as Error).message;
  }
  const message = `GET /v1 did not answer a ledger's state: ${why}`;
  throw new ApiFailure(request, { status, code: 'unreadable_answer', message });
}
