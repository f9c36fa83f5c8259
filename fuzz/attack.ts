/**
 * Attacks one target: makes inputs, runs them, keeps those that reach new code, and writes each finding's input to a
 * file.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Random } from '../test/random.ts';
import { Coverage } from './coverage.ts';
import { Finding, mutate, type OpenTarget, type Target } from './target.ts';

/** Where inputs of findings are written. */
const FINDINGS = fileURLToPath(new URL('findings', import.meta.url));
/**
 * Minimum inputs between two coverage checks, and inputs for each that runs at a time. Each batch waits for its slowest
 * input.
 */
const BATCH_INPUTS = 256;
const BATCH_INPUTS_EACH = 16;
/** Maximum processor time of one input, in milliseconds: nothing may block an event loop for longer. */
const MAX_INPUT_MS = 50;
/** A garbage collection or a cold function may slow one run. An input counts as slow only if every try is slow. */
const SLOW_TRIES = 5;
/** Maximum memory growth, in bytes, from the first tenth of the inputs to the end. */
const MAX_GROWTH_BYTES = 128 * 1024 * 1024;
const MAX_CORPUS = 5_000;
const MAX_FINDINGS = 20;

export interface AttackOptions {
  readonly seed: number;
  readonly inputs: number;
  readonly durationMs: number;
  readonly isCoverageWanted: boolean;
}

export interface Result {
  readonly target: string;
  readonly inputs: number;
  readonly seconds: number;
  readonly facts: Readonly<Record<string, number | string>>;
  readonly findings: readonly string[];
}

export async function attack(target: Target, options: AttackOptions): Promise<Result> {
  const open = await target.open(options.seed);
  const run = new Attack(target, open, options);
  try {
    return await run.toEnd();
  } finally {
    await open.close();
  }
}

/** Runs the input of a file again. @throws its finding */
export async function replay(target: Target, seed: number, file: string): Promise<void> {
  const open = await target.open(seed);
  try {
    await open.run(readFileSync(file));
    await open.check?.(true);
  } finally {
    await open.close();
  }
}

class Attack {
  readonly #target: Target;
  readonly #open: OpenTarget;
  readonly #options: AttackOptions;
  readonly #random: Random;
  readonly #coverage: Coverage | undefined;
  readonly #corpus: Buffer[] = [];
  readonly #findings: string[] = [];
  readonly #causes = new Set<string>();
  readonly #doubtful: Buffer[] = [];
  #inputs = 0;
  #unsteady = 0;

  constructor(target: Target, open: OpenTarget, options: AttackOptions) {
    this.#target = target;
    this.#open = open;
    this.#options = options;
    this.#random = new Random(options.seed);
    const isGuided = options.isCoverageWanted && target.isGuided === true;
    this.#coverage = isGuided ? new Coverage() : undefined;
  }

  async toEnd(): Promise<Result> {
    const { inputs, durationMs } = this.#options;
    const startMs = performance.now();
    let settledBytes = 0;
    while (this.#inputs < inputs && performance.now() - startMs < durationMs) {
      const { parallel = 1 } = this.#open;
      const batch = Math.max(BATCH_INPUTS, BATCH_INPUTS_EACH * parallel);
      await this.#batch(Math.min(batch, inputs - this.#inputs));
      const done = Math.max(this.#inputs / inputs, (performance.now() - startMs) / durationMs);
      if (settledBytes === 0 && done >= 0.1) settledBytes = process.memoryUsage.rss();
      if (this.#findings.length >= MAX_FINDINGS) break;
      await nextTurn();
    }
    const growthBytes = process.memoryUsage.rss() - settledBytes;
    if (this.#target.isGuided === true && settledBytes > 0 && growthBytes > MAX_GROWTH_BYTES) {
      this.#note(new Error(`memory grew by ${growthBytes} bytes`), undefined);
    }
    const facts = {
      ...(this.#coverage === undefined
        ? {}
        : { blocks: this.#coverage.size, corpus: this.#corpus.length }),
      ...this.#open.facts?.(),
      ...(this.#unsteady === 0 ? {} : { failed_once: this.#unsteady }),
    };
    this.#coverage?.close();
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    const { name } = this.#target;
    return { target: name, inputs: this.#inputs, seconds, facts, findings: this.#findings };
  }

  async #batch(count: number): Promise<void> {
    const batch: Buffer[] = [];
    for (let made = 0; made < count; made += 1) batch.push(this.#next());
    let next = 0;
    const runners = Array.from({ length: this.#open.parallel ?? 1 }, async () => {
      while (next < count) {
        const input = batch[next]!;
        next += 1;
        await this.#run(input);
      }
    });
    await Promise.all(runners);
    for (const input of this.#doubtful.splice(0)) await this.#runAlone(input);
    this.#inputs += count;
    try {
      await this.#open.check?.(false);
    } catch (error) {
      this.#note(error, (error instanceof Finding && error.input) || Buffer.concat(batch));
    }
    if (this.#coverage === undefined || this.#coverage.countNew() === 0) return;
    this.#keep(batch);
  }

  /** A new input, or a mutation of one that reached new code. */
  #next(): Buffer {
    const { below } = this.#random;
    const [first] = this.#corpus;
    if (first === undefined || below(4) === 0) return this.#open.make(this.#random);
    // Favours later inputs, which reached further.
    const back = Math.min(below(this.#corpus.length), below(this.#corpus.length));
    const original = this.#corpus[this.#corpus.length - 1 - back]!;
    return mutate(original, this.#random.pick(this.#corpus), this.#random);
  }

  /** Coverage is per batch, so any input of a batch that reached new code may be the one that did. */
  #keep(batch: readonly Buffer[]): void {
    const kept = batch.filter(() => this.#random.below(8) === 0);
    this.#corpus.push(...kept);
    this.#corpus.splice(0, Math.max(0, this.#corpus.length - MAX_CORPUS));
  }

  async #run(input: Buffer): Promise<void> {
    try {
      const slowMs = await this.#cost(input);
      if (slowMs <= MAX_INPUT_MS) return;
      let leastMs = slowMs;
      for (let tries = 0; tries < SLOW_TRIES && leastMs > MAX_INPUT_MS; tries += 1) {
        leastMs = Math.min(leastMs, await this.#cost(input));
      }
      if (leastMs > MAX_INPUT_MS)
        throw new Error(`took ${Math.round(leastMs)} ms of the processor`);
    } catch (error) {
      if ((this.#open.parallel ?? 1) === 1) this.#note(error, input);
      else this.#doubtful.push(input);
    }
  }

  /**
   * A failure of parallel inputs may be caused by another input or by a busy machine, so the input runs again alone.
   */
  async #runAlone(input: Buffer): Promise<void> {
    try {
      await this.#open.run(input);
      this.#unsteady += 1;
    } catch (error) {
      this.#note(error, input);
    }
  }

  /**
   * Longest turn for which an input blocked the event loop of this process, in milliseconds of processor time. It says
   * nothing about a target in another process.
   */
  async #cost(input: Buffer): Promise<number> {
    if (this.#target.isGuided !== true) {
      await this.#open.run(input);
      return 0;
    }
    let before = process.cpuUsage().user;
    let longest = 0;
    const note = (): void => {
      const now = process.cpuUsage().user;
      longest = Math.max(longest, now - before);
      before = now;
    };
    const done = this.#open.run(input);
    if (done !== undefined) {
      let turn = setImmediate(function next() {
        note();
        turn = setImmediate(next);
      });
      await done.finally(() => clearImmediate(turn));
    }
    note();
    return longest / 1_000;
  }

  /** Records one finding for each cause. */
  #note(error: unknown, input: Buffer | undefined): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const cause = text.split('\n').slice(0, 3).join('\n').replaceAll(/\d+/g, '#');
    if (this.#causes.has(cause)) return;
    this.#causes.add(cause);
    const where = input === undefined ? 'no input' : this.#write(input);
    this.#findings.push(`${where}: ${text}`);
    console.error(`${this.#target.name}: ${where}: ${text}`);
  }

  #write(input: Buffer): string {
    mkdirSync(FINDINGS, { recursive: true });
    const digest = createHash('sha256').update(input).digest('hex').slice(0, 12);
    const file = join(FINDINGS, `${this.#target.name}-${digest}`);
    writeFileSync(file, input);
    return file;
  }
}
