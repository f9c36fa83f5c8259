/**
 * Memory that requests hold until the operating system has taken their answers: pages and runs of code in progress,
 * bodies being received, requests that wait behind them, and answers that clients do not read. A client may hold as
 * much as is free, so one client alone may hold half of the limit. However much others hold, something is left for a
 * client that holds nothing.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clients } from './request-client.ts';

export interface Held {
  bytes: number;
  readonly client: string;
  /** Everything that its connection holds, including this until it is released. */
  readonly ofSocket: Set<Held>;
  readonly onRelease: (() => void) | undefined;
}

/** Single items are refused only above this multiple of the limit, listings above the limit. */
const ITEM_EXCESS = 2;

export class HeldBytes {
  readonly #maxBytes: number;
  readonly #clients: Clients;
  readonly #bySocket = new WeakMap<Socket, Set<Held>>();
  /** Work in progress, oldest first. */
  readonly #growing = new Set<Held>();
  readonly #bytesByClient = new Map<string, number>();
  #bytes = 0;
  #isStopping = false;

  /** @param maxBytes 0 for no limit */
  constructor(maxBytes: number, clients: Clients) {
    this.#clients = clients;
    this.#maxBytes = maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /**
   * Whether a request is refused because too much is held. A client that keeps sending requests without reading its
   * answers would not read the refusal, so its connection is closed. Unread means not taken by the operating system;
   * answers that wait behind an unfinished one do not count.
   */
  refuses(isListing: boolean, request: IncomingMessage): boolean {
    const maxBytes = isListing ? this.#maxBytes : this.#maxBytes * ITEM_EXCESS;
    // Shortcut: no client holds more than the total.
    if (this.#bytes * 2 < maxBytes) return false;
    const own = this.#bytesByClient.get(this.#clients.of(request)) ?? 0;
    if (own < maxBytes - this.#bytes) return false;
    if (request.socket.writableLength > 0) request.socket.destroy();
    return true;
  }

  /** Counts bytes until they are released or their connection is closed. Counts none if it is closed already. */
  hold(request: IncomingMessage, bytes: number, onRelease?: () => void): Held {
    const { socket } = request;
    const ofSocket = this.#heldOf(socket);
    const held = { bytes, client: this.#clients.of(request), ofSocket, onRelease };
    if (socket.destroyed || (onRelease !== undefined && this.#isStopping)) return held;
    ofSocket.add(held);
    this.#add(held.client, bytes);
    return held;
  }

  begin(request: IncomingMessage, onRelease?: () => void): Held {
    const held = this.hold(request, 0, onRelease);
    this.#growing.add(held);
    return held;
  }

  isHeld(held: Held): boolean {
    return held.ofSocket.has(held);
  }

  /** Adds bytes to work that is still held; a negative number gives bytes back. */
  grow(held: Held, bytes: number): void {
    if (!this.isHeld(held)) return;
    held.bytes += bytes;
    this.#add(held.client, bytes);
  }

  /**
   * Whether work may grow further. Older work takes precedence: if all work ended at the limit, none would complete.
   * Work that is alone may have any size, so that every page can be computed.
   */
  hasRoom(work: Held): boolean {
    let bytes = this.#bytes;
    let ownBytes = this.#bytesByClient.get(work.client) ?? 0;
    if (bytes + ownBytes - work.bytes < this.#maxBytes) return true;
    let isYounger = false;
    for (const other of this.#growing) {
      if (isYounger) {
        bytes -= other.bytes;
        if (other.client === work.client) ownBytes -= other.bytes;
      } else isYounger = other === work;
    }
    return bytes === work.bytes || bytes + ownBytes - work.bytes < this.#maxBytes;
  }

  release(held: Held): void {
    this.#growing.delete(held);
    if (!held.ofSocket.delete(held)) return;
    this.#add(held.client, -held.bytes);
    held.onRelease?.();
  }

  /** Ends all work that can be ended and lets no more begin, because the node stops. */
  stop(): void {
    this.#isStopping = true;
    for (const held of this.#growing) if (held.onRelease !== undefined) this.release(held);
  }

  /** Listens to the socket: a response that waits behind others gets no event when the connection ends. */
  #heldOf(socket: Socket): Set<Held> {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const held = new Set<Held>();
    this.#bySocket.set(socket, held);
    socket.once('close', () => {
      for (const one of held) this.release(one);
    });
    return held;
  }

  #add(client: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#bytesByClient.get(client) ?? 0) + bytes;
    if (own === 0) this.#bytesByClient.delete(client);
    else this.#bytesByClient.set(client, own);
  }
}
