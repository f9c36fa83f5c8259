/**
 * Fair shares of the time that a turn may take, while an overload lasts. Nobody gets more than one part. Whoever asked
 * for more than a part in the turn before counts as one of those who divide what the others left. So refusals fall on
 * those that ask for most, and no time is left unused. A client costs one entry of a map, for one turn.
 */

/** Clients told apart in one turn; further ones share one part. */
export const MAX_CLIENTS_IN_A_TURN = 10_000;
const FURTHER_CLIENTS = '';
/** How fast the least time of a request is forgotten, each turn. */
const FORGETTING = 1.1;

/** What one client has had in this turn. */
export interface ClientTurn {
  spentMs: number;
  requests: number;
  isRefused: boolean;
}

export class FairShare {
  readonly #maxMs: number;
  readonly #turns = new Map<string, ClientTurn>();
  /** What one client may have in this turn. */
  #partMs: number;
  /** Of this turn: clients and requests that were let in. */
  #begun = 0;
  #requests = 0;
  /** What a request takes in a turn without a stall of the process. */
  #requestMs = Number.POSITIVE_INFINITY;

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
      turn = { spentMs: 0, requests: 0, isRefused: false };
      this.#turns.set(key, turn);
    }
    return turn;
  }

  /**
   * Whether a client gets more. A turn may exceed its time by one part: a client that comes late finds it taken by
   * others when the parts were made without it. And a request that took very long does not cost other clients their
   * first one, as far as these would fit. @param spentMs by all clients in this turn
   */
  allows(turn: ClientTurn, spentMs: number): boolean {
    const isFirst = turn.requests === 0;
    const hasTime =
      spentMs < this.#maxMs + this.#partMs ||
      (isFirst && this.#begun * this.#requestMs < this.#maxMs);
    const isAllowed = turn.spentMs < this.#partMs && hasTime;
    if (isAllowed) {
      if (isFirst) this.#begun += 1;
      turn.requests += 1;
      this.#requests += 1;
    } else turn.isRefused = true;
    return isAllowed;
  }

  /** Makes the parts of the next turn. @returns whether anybody was refused in this one */
  endTurn(): boolean {
    if (this.#turns.size === 0) {
      this.#partMs = this.#maxMs;
      return false;
    }
    let leftMs = this.#maxMs;
    let spentMs = 0;
    let refused = 0;
    for (const turn of this.#turns.values()) {
      spentMs += turn.spentMs;
      if (turn.isRefused) refused += 1;
      else leftMs -= turn.spentMs;
    }
    const equalMs = this.#maxMs / this.#turns.size;
    this.#partMs = refused === 0 ? this.#maxMs : Math.max(equalMs, leftMs / refused);
    if (this.#requests > 0) {
      this.#requestMs = Math.min(spentMs / this.#requests, this.#requestMs * FORGETTING);
    }
    this.#begun = 0;
    this.#requests = 0;
    this.#turns.clear();
    return refused > 0;
  }
}
