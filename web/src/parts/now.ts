/** The machine's clock, for texts such as `3 minutes ago`. */
import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 5_000;

const listeners = new Set<(nowMs: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Milliseconds since 1970, updated every few seconds. */
export function useNow(): number {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    listeners.add(setNow);
    timer ??= setInterval(() => {
      for (const listener of listeners) listener(Date.now());
    }, TICK_MS);
    return () => {
      listeners.delete(setNow);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return nowMs;
}
