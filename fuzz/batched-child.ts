/**
 * A process that gets inputs in batches, so that the overhead per input is small. If it exits or hangs on an input, it
 * is started again for the next one. It writes the outcome of each input to a file at once (child/serve-inputs.ts).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { memoryFolder } from './memory-folder.ts';

/** Bundles of the scripts, without types: a process starts in a third of the time. */
const BUILT = fileURLToPath(new URL('built', import.meta.url));
/** A process without a new outcome for this long, in milliseconds, is considered hung. */
const HANG_MS = 10_000;

interface Waiting<T> {
  readonly input: Buffer;
  readonly done: (outcome: T | string) => void;
}

export class BatchedChild<T> {
  readonly #script: string;
  readonly #folder: string;
  readonly #before: () => void;
  readonly #outcomes = memoryFolder('daybook-outcomes-');
  #built: string | undefined;
  #child: ChildProcess | undefined;
  #waiting: Waiting<T>[] = [];
  #isRunning = false;

  /**
   * @param script calls `serveInputs`; its argument is `folder`
   * @param before called before a process is started; it cleans up after the previous one
   */
  constructor(script: string, folder: string, before: () => void = () => undefined) {
    this.#script = script;
    this.#folder = folder;
    this.#before = before;
  }

  /** The outcome of an input, or the signal or code with which the process exited: SIGKILL if it hung. */
  run(input: Buffer): Promise<T | string> {
    return new Promise((done) => {
      this.#waiting.push({ input, done });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // Collects all inputs of this turn into one batch.
      setImmediate(() => void this.#runAll());
    });
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    rmSync(this.#outcomes, { recursive: true, force: true });
    if (this.#built !== undefined) rmSync(dirname(this.#built), { recursive: true, force: true });
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      for (let from = 0; from < batch.length; ) {
        from += await this.#runSome(batch.slice(from));
      }
    }
    this.#isRunning = false;
  }

  /** @returns how many inputs are done: fewer than all if the process exited */
  async #runSome(batch: readonly Waiting<T>[]): Promise<number> {
    this.#child ??= await this.#start();
    const end = await this.#send(batch.map(({ input }) => input));
    const outcomes = this.#said();
    for (const [at, outcome] of outcomes.entries()) batch[at]!.done(outcome);
    if (end === undefined) return outcomes.length;
    this.#child = undefined;
    // If it exited between two batches, the first input of this batch did not cause it.
    batch[outcomes.length]?.done(end);
    return outcomes.length + 1;
  }

  async #start(): Promise<ChildProcess> {
    this.#built ??= await bundled(this.#script);
    this.#before();
    const child = fork(this.#built, [this.#folder, this.#file], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [
      unknown,
    ];
    if (first !== 'open') throw new Error(`${this.#script} does not start: ${first}`);
    return child;
  }

  /** @returns how the process exited, or `undefined` if it is still running */
  #send(inputs: readonly Buffer[]): Promise<string | undefined> {
    const child = this.#child!;
    return new Promise((resolve) => {
      let seen = -1;
      const watch = setInterval(() => {
        const said = readFileSync(this.#file).length;
        if (said === seen) child.kill('SIGKILL');
        seen = said;
      }, HANG_MS);
      const settle = (end: string | undefined): void => {
        clearInterval(watch);
        child.removeAllListeners();
        resolve(end);
      };
      child.once('message', () => settle(undefined));
      child.once('exit', (code, signal) => settle(signal ?? `code_${code}`));
      child.send(inputs);
    });
  }

  get #file(): string {
    return join(this.#outcomes, 'outcomes');
  }

  #said(): T[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as T);
  }
}

async function bundled(script: string): Promise<string> {
  const outDir = join(BUILT, `${basename(script, '.ts')}-${process.pid}`);
  // Not `.js`: from this extension the store concludes that its thread's file is beside it.
  const output = { entryFileNames: '[name].mjs' };
  const options = {
    ...{ ssr: script, outDir, minify: false, target: 'es2023' },
    rolldownOptions: { output },
  } as const;
  await build({ configFile: false, logLevel: 'silent', build: options });
  return join(outDir, readdirSync(outDir).find((name) => name.endsWith('.mjs'))!);
}
