/**
 * `daybook verify`: verifies the ledger of a folder in a separate process. If LMDB crashes on damaged pages, this
 * process can still report the damage.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isPostgresUrl } from '../store/postgres/location.ts';
import { isStoreError, isTransient, RowDamagedError, StoreError } from '../store/store-error.ts';
import { type VerifyProgress, type VerifyReport, verifyLedger } from '../verify/ledger.ts';
import type { Repaired } from '../verify/repair/repair.ts';
import { NodeError, type NodeErrorCode } from './node-error.ts';
import { asNodeError, emptyStoreError, openStoreReader } from './open-store.ts';

export type { VerifyProgress, VerifyReport };

/** The process's file. Only compiled code has one: Node 20 cannot run TypeScript. */
const PROCESS_URL = new URL('./verify-process.js', import.meta.url);
const IS_COMPILED = import.meta.url.endsWith('.js');
/** A process that is silent for this long, in milliseconds, is in an endless loop on damaged pages. */
const SILENCE_TIMEOUT_MS = 120_000;
/** Maximum characters of one piece of its error output. */
const MAX_OUTPUT_CHARACTERS = 2_000;

/** What to do about damage that another node cannot repair. */
const REPLACE =
  'put a good copy of the folder in its place, ' +
  'or create the ledger again (daybook init, daybook follow)';

/** What to do about the damage of a report. */
export function remedyOf({ damages, prunedMeanwhile }: VerifyReport, repaired?: Repaired): string {
  if (prunedMeanwhile) {
    return 'the ledger was pruned meanwhile: stop the node that prunes and verify again';
  }
  if (damages.some(({ isOfEngine }) => isOfEngine === true)) {
    return `the engine cannot walk its own pages, so nothing can be repaired in place: ${REPLACE}`;
  }
  if (repaired === undefined) {
    return `repair it from another node (daybook verify --repair --from URL), ${REPLACE}`;
  }
  if (repaired.unavailable > 0) {
    const count = repaired.unavailable;
    const versions = count === 1 ? '1 damaged version' : `${count} damaged versions`;
    return `the source does not have ${versions}: repair from a node that has them, or ${REPLACE}`;
  }
  return `what is left cannot be repaired from another node: ${REPLACE}`;
}

/** Messages of the process, as structured clones, which preserve bigint. */
export type VerifyMessage =
  | { readonly kind: 'progress'; readonly progress: VerifyProgress }
  | { readonly kind: 'report'; readonly report: VerifyReport }
  | { readonly kind: 'failed'; readonly code: NodeErrorCode; readonly message: string };

/**
 * Verifies a ledger; readers and a writer may continue meanwhile.
 * @throws NodeError `no_ledger`, `data_not_usable`; `damaged` when the ledger cannot be read to its end
 */
export async function verifyFolder(
  data: string,
  onProgress: (progress: VerifyProgress) => void,
  maxListed?: number,
): Promise<VerifyReport> {
  // A server that reads damaged pages does not take this process with it.
  if (!IS_COMPILED || isPostgresUrl(data)) return verifyHere(data, onProgress, maxListed);
  const child = fork(
    fileURLToPath(PROCESS_URL),
    [data, ...(maxListed === undefined ? [] : [String(maxListed)])],
    {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    },
  );
  let what = 'opening the store';
  let output = '';
  let outcome = undefined as VerifyMessage | undefined;
  const silence = setTimeout(() => child.kill('SIGKILL'), SILENCE_TIMEOUT_MS);
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output += text.slice(0, MAX_OUTPUT_CHARACTERS);
  });
  child.on('message', (message: VerifyMessage) => {
    silence.refresh();
    if (message.kind === 'progress') {
      ({ what } = message.progress);
      onProgress(message.progress);
    } else {
      outcome = message;
    }
  });
  const [code, signal] = await once(child, 'close').finally(() => clearTimeout(silence));
  if (outcome?.kind === 'report') return outcome.report;
  if (outcome?.kind === 'failed') throw new NodeError(outcome.code, outcome.message);
  const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
  const line = output.split('\n').find((text) => text.trim() !== '');
  throw new NodeError(
    'damaged',
    `the store in ${data} is damaged: the engine ${how} where it read ${what}` +
      `${line === undefined ? '' : ` (${line.trim()})`}; ${REPLACE}`,
  );
}

/** Verifies a ledger in this process, which may crash when LMDB reads damaged pages. */
export async function verifyHere(
  data: string,
  onProgress: (progress: VerifyProgress) => void,
  maxListed?: number,
): Promise<VerifyReport> {
  const store = await openStoreReader(data);
  try {
    return await verifyLedger(store, onProgress, maxListed);
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    if (isStoreError(cause, 'ledger_empty')) throw emptyStoreError(data);
    if (isTransient(cause)) throw asNodeError(cause);
    const isRow = cause instanceof RowDamagedError;
    const message = `${isRow ? '' : 'the store cannot be read: '}${cause.message}; ${REPLACE}`;
    throw new NodeError('damaged', message, { cause });
  } finally {
    await store.close();
  }
}
