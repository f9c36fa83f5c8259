/** Starts process.mjs with the compiled store, and collects everything that it does wrong. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundled } from '../../process/bundled.ts';

const SCRIPTS = ['flips', 'maker', 'process', 'twice'];
/** Bundled with the store, because its thread commits. */
const fileOf = await bundled([
  ...SCRIPTS.map((name) => `../test/store/attack/${name}.mjs`),
  'store/sqlite/commit-worker.ts',
]);

/** Counts of a process's actions so far, by name. */
export type Done = Readonly<Record<string, number>>;

export class Attacker {
  readonly role: string;
  done: Done = {};
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #lines: string[] = [];
  #stderr = '';
  #isKilled = false;
  #wake: () => void = () => undefined;

  /** @param script one of the scripts beside this file @param options of Node */
  constructor(
    script: string,
    role: string,
    args: readonly (string | number)[],
    options: readonly string[] = [],
  ) {
    this.role = role;
    const path = fileURLToPath(fileOf(script));
    this.#child = spawn(process.execPath, [...options, path, role, ...args.map(String)]);
    running.add(this);
    // It may have exited when it is sent a line.
    this.#child.stdin!.on('error', () => undefined);
    let rest = '';
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#take(line);
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#ended = once(this.#child, 'close').then(([code, signal]) => {
      running.delete(this);
      if (rest !== '') this.#take(rest);
      this.#wake();
      const isOurs = signal === 'SIGKILL' && this.#isKilled;
      if (isOurs || (code === 0 && this.#stderr === '')) return;
      this.#lines.push(`fault ${role}: ended by ${signal ?? code}: ${this.#stderr}`);
    });
  }

  /** Faults so far. */
  get faults(): readonly string[] {
    return this.#lines.filter((line) => !line.startsWith('{'));
  }

  get hasEnded(): boolean {
    return !running.has(this);
  }

  /** Kills it without warning. */
  kill(): Promise<void> {
    this.#isKilled = true;
    this.#child.kill('SIGKILL');
    return this.#ended;
  }

  /** Waits until it exits by itself. */
  async end(): Promise<Done> {
    await this.#ended;
    return this.done;
  }

  /** Sends a line and waits for the next one; `undefined` if it has exited. */
  async ask(line: string): Promise<Done | undefined> {
    this.done = {};
    this.#child.stdin!.write(`${line}\n`);
    while (Object.keys(this.done).length === 0 && !this.hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return Object.keys(this.done).length === 0 ? undefined : this.done;
  }

  #take(line: string): void {
    if (!line.startsWith('{')) this.#lines.push(line);
    else if (line.endsWith('}')) this.done = JSON.parse(line) as Done;
    this.#wake();
  }
}

const running = new Set<Attacker>();

/** For `afterEach`: no process outlives a failed test. */
export async function killLeftAttackers(): Promise<void> {
  await Promise.all([...running].map((attacker) => attacker.kill()));
}
