/**
 * Answers that the operating system has not taken, because clients do not read. A client may hold as much as is free:
 * alone half of all that is allowed, and however much others hold, there is something left for one that holds nothing.
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

/** How many times as much may be unsent before single items are refused too, not only listings. */
const ITEM_EXCESS = 2;

export class UnsentAnswers {
  readonly #maxBytes: number;
  readonly #bySocket = new WeakMap<Socket, Set<Held>>();
  /** Of clients that hold some. */
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

  /**
   * Whether a request is refused because so much is unsent. A client that asks on without reading what it has would
   * not read the refusal: it loses its connection. Answers that wait behind one that is made do not say so: only what
   * the operating system did not take does.
   */
  refuses(isListing: boolean, request: IncomingMessage, clients: Clients): boolean {
    const maxBytes = isListing ? this.#maxBytes : this.#maxBytes * ITEM_EXCESS;
    // Nobody holds more than all.
    if (this.#bytes * 2 < maxBytes) return false;
    const own = this.#bytesByClient.get(clients.of(request)) ?? 0;
    if (own < maxBytes - this.#bytes) return false;
    if (request.socket.writableLength > 0) request.socket.destroy();
    return true;
  }

  /** Counts an answer until it is released, the client has read it or its connection is closed. @returns releases it */
  holdAnswer(response: ServerResponse, bytes: number, client: string): () => void {
    const { socket } = response.req;
    // Of a client that has gone while its answer was made there will be no event any more.
    if (socket.destroyed || response.destroyed) return () => undefined;
    const held = { bytes, client, isReleased: false };
    const ofSocket = this.#heldOf(socket);
    ofSocket.add(held);
    this.#add(client, bytes);
    const release = (): void => {
      ofSocket.delete(held);
      this.#releaseHeld(held);
    };
    response.once('close', release);
    return release;
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
