/** Code coverage as V8 counts it: blocks of functions in this repository's sources. */
import { type Profiler, Session } from 'node:inspector';

export class Coverage {
  readonly #session = new Session();
  readonly #seen = new Set<string>();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Number of blocks that have run for the first time since the last call. */
  countNew(): number {
    let found = 0;
    // The callback runs before this returns, because the session is of this thread.
    this.#session.post(
      'Profiler.takePreciseCoverage',
      (_error, { result }: Profiler.TakePreciseCoverageReturnType) => {
        for (const { url, scriptId, functions } of result) {
          if (!url.includes('/src/')) continue;
          for (const { ranges } of functions) found += this.#countRanges(scriptId, ranges);
        }
      },
    );
    return found;
  }

  #countRanges(scriptId: string, ranges: readonly Profiler.CoverageRange[]): number {
    let found = 0;
    for (const { startOffset, endOffset, count } of ranges) {
      if (count === 0) continue;
      // The key includes the rough number of runs: a loop that runs longer counts as a new path.
      const key = `${scriptId}:${startOffset}:${endOffset}:${Math.min(4, Math.floor(Math.log2(count)))}`;
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      found += 1;
    }
    return found;
  }

  get size(): number {
    return this.#seen.size;
  }

  close(): void {
    this.#session.disconnect();
  }
}
