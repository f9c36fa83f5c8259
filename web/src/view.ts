/** What main.ts and the views agree on. */
import type { LiveLedger } from './live-ledger.ts';

/** What a view may use. */
export interface ViewContext {
  readonly live: LiveLedger;
  /** Aborts when the view is left. */
  readonly signal: AbortSignal;
  /** Goes to a hash; when it is the present one, the view is updated again. */
  go(hash: string): void;
}

/** A view on the page. */
export interface View {
  readonly node: HTMLElement;
  /** Shows what the parameters ask for; called on entry and whenever they change. */
  update(parameters: ReadonlyMap<string, string>): void;
}

/** Makes a view that shows nothing yet. */
export type ViewFactory = (context: ViewContext) => View;

/**
 * Lets only the latest of several runs go on: each run gets a signal that aborts when a newer one
 * begins or the view is left.
 */
export class LatestRun {
  readonly #viewSignal: AbortSignal;
  #controller = new AbortController();

  constructor(viewSignal: AbortSignal) {
    this.#viewSignal = viewSignal;
  }

  /** Aborts the run before and gives the signal of a new one. */
  begin(): AbortSignal {
    this.#controller.abort();
    this.#controller = new AbortController();
    return AbortSignal.any([this.#viewSignal, this.#controller.signal]);
  }
}
