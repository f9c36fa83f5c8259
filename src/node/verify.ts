/**
 * `daybook verify`: examines a ledger in a process of its own, so that whatever the engine does on
 * damaged pages, there is somebody left to say what is damaged.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { VerifyProgress, VerifyReport } from '../verify/verify-ledger.ts';
import { NodeError } from './node-error.ts';
import { hasStore, openStoreReader } from './open-store.ts';
import { verifyHere } from './verify-ledger.ts';
import type { VerifyMessage } from './verify-messages.ts';

export type { VerifyProgress, VerifyReport };

/** The process's file. Only compiled code has one: Node 20 runs no TypeScript. */
const PROCESS_URL = new URL('./verify-process.js', import.meta.url);
const IS_COMPILED = import.meta.url.endsWith('.js');
/**
 * A process that says nothing for so long goes round in circles on damaged pages, in milliseconds.
 */
const SILENCE_TIMEOUT_MS = 120_000;

/** What to do about a damaged ledger. */
export const DAMAGE_REMEDY =
  'put a good copy of the folder in its place, ' +
  'or create the ledger again (daybook init, daybook follow)';

/**
 * Examines the ledger of a folder; readers and a writer may go on beside it.
 * @throws NodeError `no_ledger`, `data_not_usable`; `damaged` when it cannot be read to its end
 */
export async function verifyFolder(
  dataFolder: string,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifyReport> {
  // Says in its own words that there is none; the look at the file before that is safe.
  if (!hasStore(dataFolder)) await openStoreReader(dataFolder).close();
  if (!IS_COMPILED) return verifyHere(dataFolder, onProgress);
  const child = fork(fileURLToPath(PROCESS_URL), [dataFolder], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  });
  return new Examination(child, dataFolder, onProgress).result;
}

/** A process that examines, and how it ends. */
class Examination {
  readonly result: Promise<VerifyReport>;
  readonly #child: ChildProcess;
  readonly #dataFolder: string;
  readonly #onProgress: (progress: VerifyProgress) => void;
  /** Where it was last. */
  #what = 'opening the store';
  #stderr = '';
  #outcome: VerifyMessage | undefined;

  constructor(
    child: ChildProcess,
    dataFolder: string,
    onProgress: (progress: VerifyProgress) => void,
  ) {
    this.#child = child;
    this.#dataFolder = dataFolder;
    this.#onProgress = onProgress;
    this.result = this.#run();
  }

  async #run(): Promise<VerifyReport> {
    const child = this.#child;
    let timer: NodeJS.Timeout | undefined;
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>(
      (resolve, reject) => {
        const isAlive = (): void => {
          clearTimeout(timer);
          timer = setTimeout(() => child.kill('SIGKILL'), SILENCE_TIMEOUT_MS);
        };
        isAlive();
        child.stderr?.setEncoding('utf8').on('data', (text: string) => {
          this.#stderr += text.slice(0, 2_000);
        });
        child.on('message', (message: VerifyMessage) => {
          isAlive();
          this.#take(message);
        });
        child.on('error', reject);
        child.on('close', (...ending) => resolve(ending));
      },
    ).finally(() => clearTimeout(timer));
    return this.#resultOf(code, signal);
  }

  #take(message: VerifyMessage): void {
    if (message.kind !== 'progress') {
      this.#outcome = message;
      return;
    }
    this.#what = message.progress.what;
    this.#onProgress(message.progress);
  }

  #resultOf(code: number | null, signal: NodeJS.Signals | null): VerifyReport {
    const outcome = this.#outcome;
    if (outcome?.kind === 'report') return outcome.report;
    if (outcome?.kind === 'failed') throw new NodeError(outcome.code, outcome.message);
    const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
    const said = this.#stderr.split('\n').find((line) => line.trim() !== '');
    throw new NodeError(
      'damaged',
      `the store in ${this.#dataFolder} is damaged: the engine ${how} where it read ${this.#what}` +
        `${said === undefined ? '' : ` (${said.trim()})`}; ${DAMAGE_REMEDY}`,
    );
  }
}
