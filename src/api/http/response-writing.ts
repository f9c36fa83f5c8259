/**
 * Writing a whole response: head and body are ready and go out together.
 *
 * `writeHead` checks and joins a list of names and values for each response, and a body of bytes is one more piece to
 * write; on a small answer that is a third of all that Node does. Every value here is the program's own, and most of a
 * head is the same for all answers of a view, so a head is joined as a text and goes out with the body in one piece.
 * Node has no public function that takes a head as a text: it is put into the field that `writeHead` fills. Pipelining,
 * timeouts, keeping the connection and `finish` stay Node's. Whatever is not the plain case (HEAD, HTTP/1.0, a
 * connection that ends, a header that came from the client) goes through `writeHead`, and so does everything should
 * Node change that field; test/api/response-writing.test.ts compares the bytes of both.
 */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { HeaderList } from './ledger-headers.ts';

/** Bodies up to this size are joined with the head, in bytes; larger ones are not worth the copy. */
export const MAX_JOINED_BODY_BYTES = 4 * 1024;
const MS_PER_SEC = 1_000;

/** A list of headers with the same as lines of a head. */
export interface HeaderBlock {
  readonly list: HeaderList;
  readonly lines: string;
}

/** What is sent. */
export interface WholeResponse {
  readonly status: number;
  /** The first headers, made once for many responses. */
  readonly block: HeaderBlock;
  /** The headers that follow, without `content-length`. */
  readonly headers: HeaderList;
  /** Whether a value may come from the client, so that Node must check it. */
  readonly hasClientValues: boolean;
  /** `undefined` where the status has none: 304. */
  readonly body: string | Uint8Array | undefined;
}

/** The lines of a head for a list of headers. */
export function headerLines(list: HeaderList): string {
  let lines = '';
  for (let index = 0; index < list.length; index += 2) {
    lines += `${list[index]}: ${list[index + 1]}\r\n`;
  }
  return lines;
}

/** No headers. */
export const NO_HEADERS: HeaderBlock = { list: [], lines: '' };

/** Writes responses of one server. */
export class ResponseWriter {
  /** What Node says on a connection that stays open. */
  readonly #connectionLines: string;
  #dateSecs = 0;
  #lastLines = '';

  /** @param keepAliveTimeoutMs the server's own: clients are told when idle connections end; 0 for never */
  constructor(keepAliveTimeoutMs: number) {
    const secs = Math.floor(keepAliveTimeoutMs / MS_PER_SEC);
    const hint = keepAliveTimeoutMs > 0 ? `Keep-Alive: timeout=${secs}\r\n` : '';
    this.#connectionLines = `Connection: keep-alive\r\n${hint}\r\n`;
  }

  /** Writes a response and ends it. */
  write(response: ServerResponse, whole: WholeResponse): void {
    const { body } = whole;
    const length = body === undefined ? undefined : Buffer.byteLength(body);
    if (!whole.hasClientValues && takesText(response)) {
      const head = this.#head(whole, length);
      if (writeText(response, whole.status, head, body, length ?? 0)) return;
    }
    const list = [...whole.block.list, ...whole.headers];
    if (length !== undefined) list.push('content-length', String(length));
    response.writeHead(whole.status, list);
    response.end(body);
  }

  #head({ status, block, headers }: WholeResponse, length: number | undefined): string {
    const size = length === undefined ? '' : `content-length: ${length}\r\n`;
    const first = status === 200 ? 'HTTP/1.1 200 OK\r\n' : statusLine(status);
    return first + block.lines + headerLines(headers) + size + this.#closing();
  }

  /** The lines that Node adds; the date is that of the second. */
  #closing(): string {
    const nowMs = Date.now();
    const secs = Math.floor(nowMs / MS_PER_SEC);
    if (secs !== this.#dateSecs) {
      this.#dateSecs = secs;
      this.#lastLines = `Date: ${new Date(nowMs).toUTCString()}\r\n${this.#connectionLines}`;
    }
    return this.#lastLines;
  }
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
}

/** Whether nothing but a body of known length is to follow on a connection that stays open, and is one. */
function takesText(response: ServerResponse): boolean {
  const { req: request } = response;
  return (
    response.shouldKeepAlive &&
    request.httpVersionMinor === 1 &&
    request.httpVersionMajor === 1 &&
    request.method !== 'HEAD' &&
    request.socket instanceof Socket &&
    !response.headersSent &&
    // Set while the server closes; a head made here would not have it.
    !response.hasHeader('connection')
  );
}

/** The response with the field that `writeHead` fills. */
interface ResponseWithHead {
  _header: string | null;
}

/** Writes the response, or gives false and has written nothing: this Node keeps its head elsewhere. */
function writeText(
  response: ServerResponse,
  status: number,
  head: string,
  body: string | Uint8Array | undefined,
  length: number,
): boolean {
  const fields = response as unknown as ResponseWithHead;
  if (fields._header !== null) return false;
  const text = length <= MAX_JOINED_BODY_BYTES ? latin1Of(body, length) : undefined;
  fields._header = text === undefined ? head : head + text;
  if (!response.headersSent) return false;
  response.statusCode = status;
  if (text !== undefined) response.end();
  // A long text is copied twice on its way out, its bytes are not.
  else response.end(typeof body === 'string' ? Buffer.from(body) : body);
  return true;
}

/** The bytes of a body as a text of one unit each, which is how the head goes out. */
function latin1Of(body: string | Uint8Array | undefined, length: number): string {
  if (body === undefined) return '';
  if (typeof body === 'string') {
    return body.length === length ? body : Buffer.from(body).toString('latin1');
  }
  return Buffer.from(body.buffer, body.byteOffset, length).toString('latin1');
}
