/** A simulated process whose requests, turns and clock are set by a test, for tests of overload. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import {
  Admission,
  OVERLOAD_ONSET_MS,
  type OverloadSettings,
  type WorkKind,
} from '../../src/api/load/admission.ts';

export const MAX_MS = 100;
export const BOUNDS: OverloadSettings = {
  maxBacklogMs: MAX_MS,
  maxUnsentBytes: 1_000,
  trustedProxies: '',
};

/** A process whose clock only advances with the work that it does. */
export class Process {
  nowMs = 0;
  waitingReads = 0;
  readonly admission: Admission;

  constructor(changes: Partial<OverloadSettings> = {}) {
    this.admission = new Admission(
      { ...BOUNDS, ...changes },
      () => this.waitingReads,
      () => this.nowMs,
    );
  }

  /** A request that takes `costMs` if it is admitted. @returns whether it was */
  ask(kind: WorkKind, costMs: number, client = '10.0.0.1'): boolean {
    const isAdmitted = this.admission.admits(kind, from(client));
    if (isAdmitted) this.nowMs += costMs;
    return isAdmitted;
  }

  /** A turn of the event loop with `requests` requests. @returns how many were admitted */
  async turn(kind: WorkKind, requests: number, costMs: number): Promise<number> {
    let admitted = 0;
    for (let index = 0; index < requests; index += 1) {
      if (this.ask(kind, costMs)) admitted += 1;
    }
    await nextTurn();
    return admitted;
  }

  /** Runs turns above the bound until the overload is lasting. */
  async overload(kind: WorkKind): Promise<void> {
    const endMs = this.nowMs + OVERLOAD_ONSET_MS;
    while (this.nowMs < endMs) await this.turn(kind, MAX_MS, 1);
  }
}

/** A request over a connection of its own, from an address. */
export function from(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers = { forwarded };
  return request;
}

/** A response over a connection of its own with `bytes` unread bytes. */
export function unreadAnswer(client: string, bytes: number): ServerResponse {
  const response = new ServerResponse(from(client));
  for (const stream of [response, response.req.socket]) {
    Object.defineProperty(stream, 'writableLength', { value: bytes });
  }
  return response;
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A request for a balance. */
export const GET =
  'GET /v1/accounts/0xcafe/balance/0x1::aptos_coin::AptosCoin HTTP/1.1\r\nHost: x\r\n\r\n';
