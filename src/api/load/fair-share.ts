/**
 * Fair shares of the time that a turn may take, while an overload lasts. Nobody gets more than one part. Whoever asked
 * for more than a part in the turn before counts as one of those who divide what the others left. So refusals fall on
 * those that ask for most, and no time is left unused. A client costs one entry of a map, for one turn.
 */

/** Clients told apart in one turn; further ones share one part. */
export const MAX_CLIENTS_IN_A_TURN = 10_000;
const FURTHER_CLIENTS = '';

/** What one client has had in this turn. */
export interface ClientTurn {
  spentMs: number;
  isRefused: boolean;
}

export class FairShare {
  readonly #maxMs: number;
  readonly #turns = new Map<string, ClientTurn>();
  /** What one client may have in this turn. */
  #partMs: number;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
    this.#partMs = maxMs;
  }

  /** @param client of `Clients` */
  of(client: string): ClientTurn {
    const known = this.#turns.get(client);
    if (known !== undefined) return known;
    const key = this.#turns.size < MAX_CLIENTS_IN_A_TURN - 1 ? client : FURTHER_CLIENTS;
    let turn = this.#turns.get(key);
    if (turn === undefined) {
      turn = { spentMs: 0, isRefused: false };
      this.#turns.set(key, turn);
    }
    return turn;
  }

  /**
   * Whether a client gets more. A turn may exceed its time by one part: a client that comes late finds it taken by
   * others when the parts were made without it. @param spentMs by all clients in this turn
   */
  allows(turn: ClientTurn, spentMs: number): boolean {
    const isAllowed = turn.spentMs < this.#partMs && spentMs < this.#maxMs + this.#partMs;
    if (!isAllowed) turn.isRefused = true;
    return isAllowed;
  }

  /** Makes the parts of the next turn. @returns whether anybody was refused in this one */
  endTurn(): boolean {
    let leftMs = this.#maxMs;
    let refused = 0;
    for (const { spentMs, isRefused } of this.#turns.values()) {
      if (isRefused) refused += 1;
      else leftMs -= spentMs;
    }
    const equalMs = this.#maxMs / Math.max(1, this.#turns.size);
    this.#partMs = refused === 0 ? this.#maxMs : Math.max(equalMs, leftMs / refused);
    this.#turns.clear();
    return refused > 0;
  }
}
