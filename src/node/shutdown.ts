/** Stopping: one list stops everything that was started, on a signal. */

/** Steps that stop the started parts: registered at the start, run once in reverse order. */
export class StopList {
  readonly #steps: { readonly what: string; readonly stop: () => unknown }[] = [];
  #stopping: Promise<void> | undefined;

  add(what: string, stop: () => unknown): void {
    this.#steps.push({ what, stop });
  }

  /**
   * Runs all steps, the newest first, each to its end even if another fails. Calls after the first wait for it.
   * @throws AggregateError of the steps that failed.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#run();
    return this.#stopping;
  }

  async #run(): Promise<void> {
    const failures: Error[] = [];
    for (const { what, stop } of this.#steps.toReversed()) {
      try {
        await stop();
      } catch (cause) {
        failures.push(new Error(`stopping ${what} failed`, { cause }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'some parts did not stop cleanly');
  }
}

export class PendingFailure {
  readonly promise: Promise<never>;
  fail: (error: unknown) => void = () => undefined;

  constructor() {
    this.promise = new Promise((_, reject) => {
      this.fail = reject;
    });
    // Nobody may be waiting when it comes.
    this.promise.catch(() => undefined);
  }
}

/** Resolves with the name of the first SIGTERM or SIGINT; a second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const onSignal = (signal: NodeJS.Signals): void => {
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
