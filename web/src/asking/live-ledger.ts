/**
 * The ledger's state: while the page is visible, the node reports each new one (GET /v1/-/heads, docs/extensions.md).
 */
import { useEffect, useState } from 'preact/hooks';
import { readU64 } from '../parts/number-text.ts';
import type { LedgerInfo } from './answers.ts';
import { ApiFailure } from './api-client.ts';
import { parseJson } from './exact-json.ts';
import { listen, listenAgain } from './listen.ts';
import { NODE } from './node-facts.ts';
import { HEADS_REQUEST } from './requests.ts';

/** How often the growth rate is computed again, even without new states. */
const RATE_INTERVAL_MS = 2_000;
/** Time window for versions per second. */
const RATE_WINDOW_MS = 30_000;
/** A ledger is idle if its last block is older than this and it has not grown lately. */
const STALE_MS = 60_000;

/** The current state. `info` is the last ledger state, also while paused or unreachable. */
export interface LiveState {
  readonly status: 'connecting' | 'live' | 'idle' | 'paused' | 'unreachable';
  readonly info?: LedgerInfo;
  readonly failure?: ApiFailure | undefined;
  /** Recent versions per second; undefined until two states are known. */
  readonly versionsPerSecond?: number | undefined;
}

let state: LiveState = { status: 'connecting' };
const listeners = new Set<(state: LiveState) => void>();
let measurements: { readonly timeMs: number; readonly version: number }[] = [];

/** Number of times that the node has come back, or the reader has asked to try again. */
let recoveries = 0;

/** Number of times that the ledger's history was or may have been replaced. */
let reverts = 0;
const forgetters: (() => void)[] = [];

/**
 * Whether the page has received every state since the last one: after a missed revert the ledger may have a higher
 * version.
 */
let wasHeard = true;
let wasGone = false;

function tell(change: Partial<LiveState>): void {
  const before = state.info;
  state = { ...state, ...change };
  const { status } = state;
  if (status === 'unreachable' || status === 'paused') wasHeard = false;
  if (status === 'unreachable') wasGone = true;
  if (status === 'live' || status === 'idle') heard(before, state.info);
  for (const listener of listeners) listener(state);
}

function heard(before: LedgerInfo | undefined, now: LedgerInfo | undefined): void {
  const isLower = BigInt(now?.ledger_version ?? 0) < BigInt(before?.ledger_version ?? 0);
  const isReverted = isLower || (NODE.isControlled === true && !wasHeard);
  if (isReverted || wasGone) recoveries += 1;
  wasHeard = true;
  wasGone = false;
  if (!isReverted) return;
  reverts += 1;
  for (const forget of forgetters) forget();
}

/** Registers a function that drops what is cached of a history that the ledger no longer has. */
export function onRevert(forget: () => void): void {
  forgetters.push(forget);
}

/** Computes whether the ledger grows now, and how fast. */
function judge(info: LedgerInfo): void {
  const versionsPerSecond = measure(Number(info.ledger_version));
  const ageMs = Date.now() - Number(info.ledger_timestamp) / 1000;
  const status = ageMs < STALE_MS || (versionsPerSecond ?? 0) > 0 ? 'live' : 'idle';
  tell({ status, info, versionsPerSecond, failure: undefined });
}

/** Starts listening. Call it only once. */
export function startListening(): void {
  const listening = {
    request: () => HEADS_REQUEST,
    event(data: string) {
      try {
        judge(readInfo(data));
      } catch (failure) {
        if (!(failure instanceof ApiFailure)) throw failure;
        listening.failed(failure);
      }
    },
    failed(failure: ApiFailure | undefined) {
      // The next state makes it reachable again.
      if (failure === undefined) return;
      measurements = [];
      tell({ status: 'unreachable', failure, versionsPerSecond: undefined });
    },
    paused() {
      measurements = [];
      tell({ status: 'paused' });
    },
  };
  listen(listening, new AbortController().signal);
  setInterval(() => {
    const isKnown = state.status === 'live' || state.status === 'idle';
    if (isKnown && state.info !== undefined) judge(state.info);
  }, RATE_INTERVAL_MS);
}

/** The state; the component renders again at every change. */
export function useLive(): LiveState {
  const [shown, setShown] = useState(state);
  useEffect(() => {
    setShown(state);
    listeners.add(setShown);
    return () => void listeners.delete(setShown);
  }, []);
  return shown;
}

function useCount(read: () => number): number {
  const [count, setCount] = useState(read);
  useEffect(() => {
    const look = () => setCount(read);
    look();
    listeners.add(look);
    return () => void listeners.delete(look);
  }, []);
  return count;
}

/** A counter that increases when requests, failed or not, have to be sent again. */
export function useRecoveries(): number {
  return useCount(() => recoveries);
}

/** A counter that increases when lists have to start over, because their contents may have been reverted. */
export function useReverts(): number {
  return useCount(() => reverts);
}

/**
 * A counter that increases when the node is back and a request without an answer has to be sent again. Answers are
 * kept.
 */
export function useRetries(failure: unknown): number {
  const recoveries = useRecoveries();
  const [retries, setRetries] = useState(0);
  useEffect(() => {
    if (failure instanceof ApiFailure && failure.status === 0) setRetries((count) => count + 1);
  }, [recoveries]);
  return retries;
}

/** Reconnects at once, and sends requests without an answer again. */
export function tryAgain(): void {
  recoveries += 1;
  listenAgain();
  tell({});
}

/** Resolves with the newest state as soon as it is above a version. Rejects with the signal's reason. */
export function headAbove(version: bigint, signal: AbortSignal): Promise<LedgerInfo> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      listeners.delete(look);
      signal.removeEventListener('abort', abort);
    };
    const look = ({ info }: LiveState): void => {
      if (info === undefined || BigInt(info.ledger_version) <= version) return;
      end();
      resolve(info);
    };
    const abort = (): void => {
      end();
      reject(signal.reason);
    };
    signal.throwIfAborted();
    listeners.add(look);
    signal.addEventListener('abort', abort);
    look(state);
  });
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

/** @throws ApiFailure with code `unreadable_answer` if it is not a ledger's state */
function readInfo(text: string): LedgerInfo {
  let why: unknown = 'a number is missing';
  try {
    const info = parseJson<LedgerInfo>(text);
    const { ledger_version, oldest_ledger_version, ledger_timestamp } = info;
    const numbers = [ledger_version, oldest_ledger_version, ledger_timestamp];
    if (numbers.every((number) => readU64(String(number)) !== undefined)) return info;
  } catch (error) {
    why = (error as Error).message;
  }
  const message = `GET /v1/-/heads did not tell a ledger's state: ${why}`;
  throw new ApiFailure(HEADS_REQUEST, { status: 200, code: 'unreadable_answer', message });
}
