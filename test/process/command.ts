/** The real program in processes of its own: commands that run to their end, and serving nodes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';

export const PROGRAM = fileURLToPath(new URL('../../bin/daybook', import.meta.url));
const BUILT = new URL('../../dist/main.js', import.meta.url);

/** The result of a command. */
export interface CommandResult {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  /** Without lines of progress. */
  readonly stderr: string;
}

export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The system's folder for temporary files when absent. */
  readonly workingFolder?: string;
  /** Its standard input; empty when absent. */
  readonly input?: string | Buffer;
}

/** The environment of a command: this process's, without a developer's own settings. */
function environmentOf(changes: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('DAYBOOK_') && !/^(?:NODE_|VITEST|npm_|FORCE_COLOR)/.test(name),
  );
  // One process starts faster than three, and has all of a node's memory; workers.test.ts tests several.
  return {
    DAYBOOK_WORKERS: '1',
    ...Object.fromEntries(inherited),
    // The program starts the first Node in this path.
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    ...changes,
  };
}

/** Starts the program. */
export function startCommand(args: readonly string[], options: CommandOptions = {}): ChildProcess {
  if (!existsSync(BUILT)) throw new Error('the program is not built: run npm run build first');
  const child = spawn(PROGRAM, args, {
    cwd: options.workingFolder ?? tmpdir(),
    env: environmentOf(options.environment ?? {}),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  // A command may end without reading all of it.
  child.stdin?.on('error', () => undefined).end(options.input);
  return child;
}

/** Runs a command to its end. */
export function runCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return endOf(startCommand(args, options));
}

/** Runs a command with `--json` and returns the printed object; nothing else may be on stdout. */
export async function reportOf(args: readonly string[], options: CommandOptions = {}) {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], options);
  expect(stdout).toMatch(/^\{.*\}\n$/);
  return { code, stderr, report: JSON.parse(stdout) as Record<string, unknown> };
}

/** Runs a command with `--json`, and retries until the server has noticed that a killed process is gone. */
export async function runWhenUnlocked(args: readonly string[]): Promise<CommandResult> {
  for (;;) {
    const result = await runCommand([...args, '--json']);
    if (!result.stdout.includes('"store_locked"')) return result;
  }
}

/** Everything that a process prints until it ends. */
export async function endOf(child: ChildProcess): Promise<CommandResult> {
  const output = new Output(child);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout: output.stdout, stderr: output.stderr.replace(PROGRESS, '') };
}

/** Lines that long work prints every five seconds; on a busy machine short work prints them too. */
const PROGRESS =
  /^(?:(?:format \d+: )?[█░]+ .*|[a-z_ ]+: [\d,]+|requests in flight get \d+ s to finish|(?:reading|computing|storing) .*)\n/gm;

class Output {
  stdout = '';
  stderr = '';

  constructor(child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
  }
}

/** Checks a failure: its exit code, one line on stderr, nothing on stdout. Returns the line. */
export function expectFailure(result: CommandResult, code: 1 | 2): string {
  expect(result).toMatchObject({ code, signal: null, stdout: '' });
  expect(result.stderr).toMatch(/^daybook: [^\n]+\n$/);
  return result.stderr.slice('daybook: '.length, -1);
}

const folders: string[] = [];
// Registered once for the file, because a hook registered during a test is never called.
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new temporary folder, removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-process-'));
  folders.push(folder);
  return folder;
}

/** The ready line. */
export interface Ready {
  readonly event: string;
  readonly url: string;
  readonly pid: number;
  readonly chain_id: number;
  readonly ledger_version: string;
}

const running = new Set<ChildProcess>();

/** A node in a process of its own that has printed its ready line. */
export class ServedNode {
  readonly process: ChildProcess;
  readonly ready: Ready;
  readonly #output: Output;
  readonly #ended: Promise<[number | null, NodeJS.Signals | null]>;

  private constructor(
    process: ChildProcess,
    output: Output,
    ended: Promise<[number | null, NodeJS.Signals | null]>,
  ) {
    this.process = process;
    this.#output = output;
    this.#ended = ended;
    this.ready = JSON.parse(output.stdout) as Ready;
  }

  /** Serves a folder on a free port until `stop`. */
  static async start(
    data: string,
    args: readonly string[] = [],
    options: CommandOptions = {},
  ): Promise<ServedNode> {
    const all = ['serve', '--data', data, '--listen', '127.0.0.1:0', ...args];
    return ServedNode.of(startCommand(all, options));
  }

  /** A node that a test has started itself. */
  static async of(child: ChildProcess): Promise<ServedNode> {
    running.add(child);
    const output = new Output(child);
    const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    const hasEnded = ended.then(() => {
      running.delete(child);
      return 'ended' as const;
    });
    while (!output.stdout.includes('\n')) {
      if ((await Promise.race([once(child.stdout!, 'data'), hasEnded])) === 'ended') {
        throw new Error(`the node ended before it was ready: ${output.stderr}`);
      }
    }
    return new ServedNode(child, output, ended);
  }

  get port(): number {
    return Number(new URL(this.ready.url).port);
  }

  /** Log lines so far. */
  get log(): Record<string, unknown>[] {
    const lines = this.#output.stderr.split('\n').slice(0, -1);
    // The engine prints its own lines about damaged pages.
    const own = lines.filter((line) => !/^(?:internal error|page \d+ not found)/.test(line));
    return own.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Log lines of pino's level error and above so far: unexpected failures. */
  get complaints(): Record<string, unknown>[] {
    return this.log.filter(({ level }) => Number(level) >= 50);
  }

  get stdout(): string {
    return this.#output.stdout;
  }

  /** GET of a path below `/v1`. */
  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.ready.url + path, { headers });
  }

  /** The highest resident memory so far, in bytes (Linux; 0 elsewhere). */
  peakBytes(): number {
    const path = `/proc/${this.process.pid}/status`;
    if (!existsSync(path)) return 0;
    return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8'))?.[1]);
  }

  /** Waits for the end of the process, whatever causes it. */
  async end(): Promise<CommandResult> {
    const [code, signal] = await this.#ended;
    return { code, signal, stdout: this.#output.stdout, stderr: this.#output.stderr };
  }

  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<CommandResult> {
    this.process.kill(signal);
    return this.end();
  }
}

/** Kills nodes that a failed test left running. Call it in `afterEach` or `afterAll`. */
export function killLeftNodes(): void {
  for (const child of running) child.kill('SIGKILL');
}
