/**
 * Memory that requests hold until the operating system has taken their answers: pages and runs of code in progress,
 * bodies being received, requests that wait behind them, and answers that clients do not read. A client may hold as
 * much as is free, so one client alone may hold half of the limit. However much others hold, something is left for a
 * client that holds nothing.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clients } from './request-client.ts';

export interface MemoryHold {
  bytes: number;
  readonly client: string;
  /** Everything that its connection holds, including this until it is released. */
  readonly socketHolds: Set<MemoryHold>;
  readonly onRelease: (() => void) | undefined;
}

/** Single items are refused only above this multiple of the limit, listings above the limit. */
const ITEM_LIMIT_FACTOR = 2;

export class HeldBytes {
  readonly #maxBytes: number;
  readonly #clients: Clients;
  readonly #bySocket = new WeakMap<Socket, Set<MemoryHold>>();
  /** Work in progress, oldest first. */
  readonly #inProgress = new Set<MemoryHold>();
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
  shouldRefuse(isListing: boolean, request: IncomingMessage): boolean {
    const maxBytes = isListing ? this.#maxBytes : this.#maxBytes * ITEM_LIMIT_FACTOR;
    // Shortcut: no client holds more than the total.
    if (this.#bytes * 2 < maxBytes) return false;
    const own = this.#bytesByClient.get(this.#clients.of(request)) ?? 0;
    if (own < maxBytes - this.#bytes) return false;
    if (request.socket.writableLength > 0) request.socket.destroy();
    return true;
  }

  /** Counts bytes until they are released or their connection is closed. Counts none if it is closed already. */
  hold(request: IncomingMessage, bytes: number, onRelease?: () => void): MemoryHold {
    const { socket } = request;
    const socketHolds = this.#holdsOf(socket);
    const hold = { bytes, client: this.#clients.of(request), socketHolds, onRelease };
    if (socket.destroyed || (onRelease !== undefined && this.#isStopping)) return hold;
    socketHolds.add(hold);
    this.#add(hold.client, bytes);
    return hold;
  }

  begin(request: IncomingMessage, onRelease?: () => void): MemoryHold {
    const hold = this.hold(request, 0, onRelease);
    this.#inProgress.add(hold);
    return hold;
  }

  isActive(hold: MemoryHold): boolean {
    return hold.socketHolds.has(hold);
  }

  /** Adds bytes to work that is still held; a negative number gives bytes back. */
  grow(hold: MemoryHold, bytes: number): void {
    if (!this.isActive(hold)) return;
    hold.bytes += bytes;
    this.#add(hold.client, bytes);
  }

  /**
   * Whether work may grow further. Older work takes precedence: if all work ended at the limit, none would complete.
   * Work that is alone may have any size, so that every page can be computed.
   */
  canGrow(hold: MemoryHold): boolean {
    let bytes = this.#bytes;
    let ownBytes = this.#bytesByClient.get(hold.client) ?? 0;
    if (bytes + ownBytes - hold.bytes < this.#maxBytes) return true;
    let isYounger = false;
    for (const other of this.#inProgress) {
      if (isYounger) {
        bytes -= other.bytes;
        if (other.client === hold.client) ownBytes -= other.bytes;
      } else isYounger = other === hold;
    }
    return bytes === hold.bytes || bytes + ownBytes - hold.bytes < this.#maxBytes;
  }

  release(hold: MemoryHold): void {
    this.#inProgress.delete(hold);
    if (!hold.socketHolds.delete(hold)) return;
    this.#add(hold.client, -hold.bytes);
    hold.onRelease?.();
  }

  /** Ends all work that can be ended and lets no more begin, because the node stops. */
  stop(): void {
    this.#isStopping = true;
    for (const hold of this.#inProgress) if (hold.onRelease !== undefined) this.release(hold);
  }

  /** Listens to the socket: a response that waits behind others gets no event when the connection ends. */
  #holdsOf(socket: Socket): Set<MemoryHold> {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const holds = new Set<MemoryHold>();
    this.#bySocket.set(socket, holds);
    socket.once('close', () => {
      for (const hold of holds) this.release(hold);
    });
    return holds;
  }

  #add(client: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#bytesByClient.get(client) ?? 0) + bytes;
    if (own === 0) this.#bytesByClient.delete(client);
    else this.#bytesByClient.set(client, own);
  }
}
