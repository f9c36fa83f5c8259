/** A client of server-sent events (HTML Standard §9.2) that keeps the received text. */
import { type ClientRequest, type IncomingHttpHeaders, request as send } from 'node:http';

export interface ReceivedEvent {
  /** `message` unless the stream sets another type. */
  readonly type: string;
  /** The id of this event, or else of the last event with an id. */
  readonly id: string | undefined;
  readonly data: string;
}

export class EventClient {
  readonly events: ReceivedEvent[] = [];
  /** Everything received, comments included. */
  text = '';
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** The last retry value of the stream, in milliseconds. */
  retryMs: number | undefined;
  /** Whether the response ended properly; undefined while it is open. */
  isComplete: boolean | undefined;
  readonly request: ClientRequest;
  /** Resolves with this when the response headers have arrived. */
  readonly opened: Promise<this>;
  /** Resolves when the response is over. */
  readonly closed: Promise<void>;
  #rest = '';
  #lastId: string | undefined;
  #changed: () => void = () => undefined;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    const accept = { accept: 'text/event-stream' };
    this.request = send(url, { headers: { ...accept, ...headers }, agent: false });
    let close: () => void = () => undefined;
    this.closed = new Promise((resolve) => {
      close = resolve;
    });
    this.opened = new Promise((resolve, reject) => {
      this.request.on('error', reject);
      this.request.on('response', (response) => {
        this.status = response.statusCode ?? 0;
        this.headers = response.headers;
        response.setEncoding('utf8').on('data', (text: string) => this.#read(text));
        response.on('error', () => undefined);
        response.once('close', () => {
          this.isComplete = response.complete;
          close();
          this.#changed();
        });
        resolve(this);
      });
    });
    this.request.end();
  }

  /** Resolves when `count` events have arrived, or the stream has ended. */
  async until(count: number): Promise<readonly ReceivedEvent[]> {
    while (this.events.length < count && this.isComplete === undefined) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    return this.events;
  }

  /** The records of the events so far. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  get records(): any[] {
    return this.events.map(({ data }) => JSON.parse(data));
  }

  close(): void {
    this.request.destroy();
  }

  #read(text: string): void {
    this.text += text;
    this.#rest += text;
    for (;;) {
      const end = this.#rest.indexOf('\n\n');
      if (end === -1) break;
      this.#take(this.#rest.slice(0, end).split('\n'));
      this.#rest = this.#rest.slice(end + 2);
    }
    this.#changed();
  }

  #take(lines: readonly string[]): void {
    const fields = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
    }
    const retry = fields.get('retry');
    if (retry !== undefined) this.retryMs = Number(retry);
    this.#lastId = fields.get('id') ?? this.#lastId;
    const data = fields.get('data');
    if (data === undefined) return;
    this.events.push({ type: fields.get('event') ?? 'message', id: this.#lastId, data });
  }
}
