/**
 * Large answers that clients have yet to read. A client may hold as much as is free: alone half of all that is
 * allowed, and however much others hold, there is something left for one that holds nothing.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clients } from './request-client.ts';

/** One answer. */
interface Held {
  readonly bytes: number;
  readonly client: string;
  isReleased: boolean;
}

export class UnsentAnswers {
  readonly #maxBytes: number;
  readonly #bySocket = new WeakMap<Socket, Set<Held>>();
  /** Of clients that hold some: as many as fit, each with at least one large answer. */
  readonly #bytesByClient = new Map<string, number>();
  #bytes = 0;

  /** @param maxBytes 0 for no limit */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /** Counts bytes of no one client, until they are given back as a negative number. */
  hold(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Whether the client of a request is to get nothing large now. */
  isFullFor(request: IncomingMessage, clients: Clients): boolean {
    if (this.isFull) return true;
    // Nobody holds more than all.
    if (this.#bytes * 2 < this.#maxBytes) return false;
    const own = this.#bytesByClient.get(clients.of(request)) ?? 0;
    return own >= this.#maxBytes - this.#bytes;
  }

  /** Counts an answer until the client has read it or its connection is closed. */
  holdAnswer(response: ServerResponse, bytes: number, client: string): void {
    const { socket } = response.req;
    // Of a client that has gone while its answer was made there will be no event any more.
    if (socket.destroyed || response.destroyed) return;
    const held = { bytes, client, isReleased: false };
    const ofSocket = this.#heldOf(socket);
    ofSocket.add(held);
    this.#add(client, bytes);
    response.once('close', () => {
      ofSocket.delete(held);
      this.#releaseHeld(held);
    });
  }

  /** An answer that waits behind others when its connection ends gets no event: its socket does. */
  #heldOf(socket: Socket): Set<Held> {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const held = new Set<Held>();
    this.#bySocket.set(socket, held);
    socket.once('close', () => {
      for (const one of held) this.#releaseHeld(one);
      held.clear();
    });
    return held;
  }

  #releaseHeld(held: Held): void {
    if (held.isReleased) return;
    held.isReleased = true;
    this.#add(held.client, -held.bytes);
  }

  #add(client: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#bytesByClient.get(client) ?? 0) + bytes;
    if (own === 0) this.#bytesByClient.delete(client);
    else this.#bytesByClient.set(client, own);
  }
}
