/**
 * Bytes at the socket of a node in a process of its own: pipelined requests of every endpoint, and bytes that are no
 * request.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Random } from '../../test/random.ts';
import { RequestMaker } from '../requests.ts';
import { Finding, type OpenTarget, type Target } from '../target.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/daybook', import.meta.url));
const TRANSACTIONS = 300;
/** All connections send at once, so on a busy machine one turn of the event loop takes seconds. */
const FLAGS = [
  ...['--listen', '127.0.0.1:0', '--metrics-listen', '127.0.0.1:0', '--workers', '1'],
  ...['--request-timeout-ms', '8000', '--keep-alive-timeout-ms', '1000'],
  ...['--max-backlog-ms', '0'],
];
/** A connection that is still open after this many milliseconds is considered hung. */
const END_MS = 120_000;
const PARALLEL = 400;
/** Maximum number of requests on a connection with only valid ones. */
const PIPELINES = [1, 8, 8, 32, 120];
/** Connections between two checks of the node's metrics. */
const CHECK_INPUTS = 2_000;
/** Maximum time, in milliseconds, that one connection's requests may block the event loop. */
const MAX_HELD_MS = 50;
/** Additional time for each request that arrives with others at once. */
const MAX_REQUEST_MS = 0.5;
/** Additional time for each trace, which executes code, records each step, and takes turns with other requests. */
const MAX_TRACE_MS = 100;
const SLOW_TRIES = 4;
/** How long a node without requests is observed, in milliseconds. */
const IDLE_MS = 5_000;
/** Inputs that are run again to find the slow one. */
const RECENT_INPUTS = 300;
/** Maximum growth of resident memory after the node has warmed up, in bytes. */
const MAX_GROWTH_BYTES = 200 * 1024 * 1024;
const WARM_INPUTS = 10_000;

/** How an input is sent, selected by its first byte. */
const WHOLE = 0;
const IN_PIECES = 1;
const CUT = 2;
const HALF_CLOSED = 3;
/**
 * Expected 5xx bodies: a sample's blocks are old, awaited versions never come, two errors are the reference's own, and
 * HEAD has no body.
 */
const EXPLAINED =
  /^$|"error_code":"(?:health_check_failed|version_not_found)"|Too many items requested|Failed to determine absolute unix time/;
const STREAM = /content-type: text\/event-stream/i;

export const httpTarget: Target = {
  name: 'http',
  about: 'bytes at the socket: every path, query, body; smuggling, slow, huge, half-closed',
  open: openHttp,
};

async function openHttp(seed: number): Promise<OpenTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-http-'));
  const sample = ['sample', '--data', folder, '--transactions', String(TRANSACTIONS)];
  execFileSync(process.execPath, [PROGRAM, ...sample], { stdio: 'ignore' });
  const node = spawn(process.execPath, [PROGRAM, 'serve', '--data', folder, ...FLAGS], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const complaints: string[] = [];
  const metricsUrl = new Promise<string>((resolve) => {
    createInterface({ input: node.stderr! }).on('line', (line) => {
      const entry = JSON.parse(line) as { level: number; msg: string; url: string };
      if (entry.msg === 'metrics') resolve(entry.url);
      else if (entry.level >= 50) complaints.push(line);
    });
  });
  const [line] = (await once(createInterface({ input: node.stdout! }), 'line')) as [string];
  const port = Number(new URL((JSON.parse(line) as { url: string }).url).port);
  return new HttpTarget(folder, node, port, await metricsUrl, complaints, seed);
}

class HttpTarget implements OpenTarget {
  readonly parallel = PARALLEL;
  readonly #folder: string;
  readonly #node: ChildProcess;
  readonly #port: number;
  readonly #metricsUrl: string;
  readonly #complaints: string[];
  readonly #maker: RequestMaker;
  readonly #statuses = new Map<number, number>();
  readonly #recent: Buffer[] = [];
  #requests = 0;
  #inputs = 0;
  #checked = 0;
  #warmBytes = 0;
  #longestMs = 0;
  #idleShare: number | undefined;

  constructor(
    folder: string,
    node: ChildProcess,
    port: number,
    metricsUrl: string,
    complaints: string[],
    seed: number,
  ) {
    this.#folder = folder;
    this.#node = node;
    this.#port = port;
    this.#metricsUrl = metricsUrl;
    this.#complaints = complaints;
    this.#maker = new RequestMaker(seed, new Random(seed));
  }

  /** First byte: how it is sent. Second byte: number of expected responses (0: unknown). Then the bytes to send. */
  make(random: Random): Buffer {
    const how = random.below(20) === 0 ? random.pick([IN_PIECES, CUT, HALF_CLOSED]) : WHOLE;
    if (random.below(4) === 0) return Buffer.concat([Buffer.of(how, 0), this.#maker.odd()]);
    const count = 1 + random.below(random.pick(PIPELINES));
    return Buffer.concat([Buffer.of(how, count), this.#maker.pipeline(count)]);
  }

  async run(input: Buffer): Promise<void> {
    this.#inputs += 1;
    this.#recent.push(input);
    if (this.#recent.length > RECENT_INPUTS) this.#recent.shift();
    const [how = WHOLE, count = 0] = input;
    const answer = await this.#talk(how, input.subarray(2));
    const answers = answersIn(answer);
    this.#requests += answers.length;
    for (const { status } of answers) {
      this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    }
    if (this.#complaints.length > 0) throw new Finding(this.#complaints.splice(0).join('\n'));
    const bad = answers.find(({ status, body }) => status >= 500 && !EXPLAINED.test(body));
    if (bad !== undefined) throw new Finding(`status ${bad.status}: ${bad.body.slice(0, 500)}`);
    // Node's server drops a client that half-closes its connection, so such requests may stay unanswered.
    if (count === 0 || how === CUT || how === HALF_CLOSED || STREAM.test(answer.toString('latin1')))
      return;
    if (answers.length !== count) {
      throw new Finding(`${count} requests got ${answers.length} answers`);
    }
  }

  /** Sends bytes and resolves with everything received until the connection closes. */
  #talk(how: number, bytes: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true });
      const chunks: Buffer[] = [];
      const timeout = setTimeout(() => {
        socket.destroy();
        reject(
          new Finding(`a connection that does not end: ${Buffer.concat(chunks).subarray(0, 500)}`),
        );
      }, END_MS);
      socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        // A stream continues for as long as the client listens.
        if (STREAM.test(chunk.toString('latin1'))) socket.destroy();
      });
      socket.on('end', () => socket.end());
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timeout);
        resolve(Buffer.concat(chunks));
      });
      if (how === IN_PIECES) void sendInPieces(socket, bytes);
      else if (how === CUT)
        socket.write(bytes.subarray(0, bytes.length / 2), () => socket.destroy());
      else if (how === HALF_CLOSED) socket.end(bytes);
      else socket.write(bytes);
    });
  }

  async check(isReplay: boolean): Promise<void> {
    if (this.#node.exitCode !== null || this.#node.signalCode !== null) {
      throw new Finding(`the node has ended: ${this.#node.exitCode ?? this.#node.signalCode}`);
    }
    if (isReplay) await this.#findSlow();
    if (this.#inputs - this.#checked < CHECK_INPUTS) return;
    this.#checked = this.#inputs;
    const { lagMs, residentBytes } = await this.#metrics();
    if (this.#inputs < WARM_INPUTS) this.#warmBytes = residentBytes;
    else if (residentBytes - this.#warmBytes > MAX_GROWTH_BYTES) {
      throw new Finding(`memory grew from ${this.#warmBytes} to ${residentBytes} bytes`);
    }
    if (lagMs > MAX_HELD_MS) await this.#findSlow();
  }

  /**
   * The lag says that something blocked the event loop, or that other processes had the processor. So each input runs
   * again alone, and its processor time is measured.
   */
  async #findSlow(): Promise<void> {
    if (this.#idleShare === undefined) {
      const idle = await this.#spent(() => sleep(IDLE_MS));
      this.#idleShare = idle.processorMs / idle.durationMs;
    }
    for (const input of this.#recent.splice(0)) {
      const traces = input.toString('latin1').split('/trace').length - 1;
      const maxMs = MAX_HELD_MS + (input[1] ?? 0) * MAX_REQUEST_MS + traces * MAX_TRACE_MS;
      let leastMs = await this.#cost(input);
      for (let tries = 0; tries < SLOW_TRIES && leastMs > maxMs; tries += 1) {
        leastMs = Math.min(leastMs, await this.#cost(input));
      }
      this.#longestMs = Math.max(this.#longestMs, leastMs);
      if (leastMs > maxMs) {
        const text = input.subarray(2, 1_000).toString('latin1');
        throw new Finding(`took ${Math.round(leastMs)} ms of the processor: ${text}`, input);
      }
    }
  }

  /** In milliseconds of processor time, minus an idle node's share: connections may wait for a timeout. */
  async #cost(input: Buffer): Promise<number> {
    const { processorMs, durationMs } = await this.#spent(() =>
      this.#talk(WHOLE, input.subarray(2)),
    );
    return processorMs - durationMs * this.#idleShare!;
  }

  async #spent(action: () => Promise<unknown>) {
    const before = await this.#metrics();
    const startMs = performance.now();
    await action();
    const durationMs = performance.now() - startMs;
    return { processorMs: (await this.#metrics()).processorMs - before.processorMs, durationMs };
  }

  async #metrics() {
    // Retried once: the connection of the previous call may be closed while this request is being sent.
    const look = () => fetch(this.#metricsUrl);
    const text = await (await look().catch(look)).text();
    const value = (name: string) =>
      Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)`, 'm').exec(text)?.[1]);
    return {
      lagMs: value('nodejs_eventloop_lag_max_seconds') * 1_000,
      residentBytes: value('process_resident_memory_bytes'),
      processorMs: value('process_cpu_user_seconds_total') * 1_000,
    };
  }

  facts(): Readonly<Record<string, number>> {
    const statuses = [...this.#statuses].map(([status, count]) => [`status_${status}`, count]);
    const requests = this.#requests;
    return { requests, ...Object.fromEntries(statuses), longest_ms: this.#longestMs };
  }

  async close(): Promise<void> {
    const ended = once(this.#node, 'exit');
    this.#node.kill('SIGKILL');
    if (this.#node.exitCode === null && this.#node.signalCode === null) await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function sendInPieces(socket: ReturnType<typeof connect>, bytes: Buffer): Promise<void> {
  const step = Math.max(1, Math.ceil(bytes.length / 10));
  for (let at = 0; at < bytes.length && socket.writable; at += step) {
    socket.write(bytes.subarray(at, at + step));
    await sleep(5);
  }
}

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** The responses on a connection. Some have no body although their headers announce one. */
function answersIn(bytes: Buffer): HttpAnswer[] {
  const answers: HttpAnswer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end === -1) break;
    const head = bytes.subarray(at, end).toString('latin1');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    if (Number.isNaN(status)) throw new Finding(`not an answer: ${head.slice(0, 200)}`);
    at = end + 4;
    if (status < 200) continue;
    const start = at;
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (/\r\ntransfer-encoding: chunked/i.test(head)) at = chunksEnd(bytes, at);
    else if (status !== 304 && length !== undefined && !isAnswerAt(bytes, at)) at += Number(length);
    answers.push({ status, body: bytes.subarray(start, at).toString('latin1') });
  }
  return answers;
}

/** No body begins like this, so the previous response was to a HEAD request. */
function isAnswerAt(bytes: Buffer, at: number): boolean {
  return bytes.toString('latin1', at, at + 9) === 'HTTP/1.1 ';
}

function chunksEnd(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) return bytes.length;
    const length = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    at = line + 2 + length + 2;
    if (length === 0) return at;
  }
  return bytes.length;
}
