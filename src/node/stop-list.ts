/** Stopping in one way: what was started registers how to stop it; stopping runs the list backwards, once. */

export class StopList {
  readonly #steps: { readonly what: string; readonly stop: () => unknown }[] = [];
  #stopping: Promise<void> | undefined;

  /** Adds a step; `what` names it in an error. */
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
