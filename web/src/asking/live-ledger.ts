/**
 * The ledger's state: the node tells of each new one (GET /v1/-/heads, docs/extensions.md) while the page can be seen.
 */
import { useEffect, useState } from 'preact/hooks';
import { readU64 } from '../parts/number-text.ts';
import type { LedgerInfo } from './answers.ts';
import { ApiFailure } from './api-client.ts';
import { parseJson } from './exact-json.ts';
import { listen, listenAgain } from './listen.ts';
import { NODE } from './node-facts.ts';
import { HEADS_REQUEST } from './requests.ts';

/** How often the rate of growth is worked out again, also when nothing comes. */
const RATE_INTERVAL_MS = 2_000;
/** Versions per second are measured over at most this long. */
const RATE_WINDOW_MS = 30_000;
/** A ledger whose last block is older than this, and that has not grown lately, does not grow. */
const STALE_MS = 60_000;

/** What is known now. `info` is the last state, also while paused or unreachable. */
export interface LiveState {
  readonly status: 'connecting' | 'live' | 'idle' | 'paused' | 'unreachable';
  readonly info?: LedgerInfo;
  readonly failure?: ApiFailure | undefined;
  /** Versions per second lately; undefined until two states are known. */
  readonly versionsPerSecond?: number | undefined;
}

let state: LiveState = { status: 'connecting' };
const listeners = new Set<(state: LiveState) => void>();
let measurements: { readonly timeMs: number; readonly version: number }[] = [];

/** How often the node has come back, or the reader has asked to try again. */
let recoveries = 0;

/** How often the ledger has another history than before, or may have. */
let reverts = 0;
const forgetters: (() => void)[] = [];

/** Whether the page has listened since the last state: a revert that it did not hear may leave a higher version. */
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

/** `forget` drops what is remembered of a history that the ledger no longer has. */
export function onRevert(forget: () => void): void {
  forgetters.push(forget);
}

/** Whether the ledger grows, and how fast, as of now. */
function judge(info: LedgerInfo): void {
  const versionsPerSecond = measure(Number(info.ledger_version));
  const ageMs = Date.now() - Number(info.ledger_timestamp) / 1000;
  const status = ageMs < STALE_MS || (versionsPerSecond ?? 0) > 0 ? 'live' : 'idle';
  tell({ status, info, versionsPerSecond, failure: undefined });
}

/** Begins; to be called once. */
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
      // The next state says that it comes again.
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

/** Counts up when what was asked, or could not be, is to be asked again. */
export function useRecoveries(): number {
  return useCount(() => recoveries);
}

/** Counts up when lists have to begin again: what they have shown may be taken back. */
export function useReverts(): number {
  return useCount(() => reverts);
}

/** Counts up when the node is there again for what it has not answered; what it has answered stays. */
export function useRetries(failure: unknown): number {
  const recoveries = useRecoveries();
  const [retries, setRetries] = useState(0);
  useEffect(() => {
    if (failure instanceof ApiFailure && failure.status === 0) setRetries((count) => count + 1);
  }, [recoveries]);
  return retries;
}

/** Asks the node at once, and whatever it has not answered. */
export function tryAgain(): void {
  recoveries += 1;
  listenAgain();
  tell({});
}

/** The newest state above a version, as soon as it is there. Rejects with the signal's reason. */
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

/** @throws ApiFailure with code `unreadable_answer` when it is no ledger's state */
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
