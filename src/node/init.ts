/** `daybook init`: from a genesis file to a ledger on disk, checked before anything is written. */
import { Committer } from '../ingest/committer.ts';
import {
  type GenesisCounts,
  GenesisError,
  MAX_GENESIS_BYTES,
  readGenesis,
} from '../ingest/genesis/genesis.ts';
import {
  checkWaypoint,
  chunkOfGenesis,
  computeGenesisHashes,
} from '../ingest/genesis/genesis-waypoint.ts';
import {
  formatWaypoint,
  parseWaypoint,
  type Waypoint,
  WaypointTextError,
} from '../move/transactions/waypoint.ts';
import { download } from '../remote/download.ts';
import { urlOf } from '../remote/node-url.ts';
import { RemoteError } from '../remote/remote-error.ts';
import { RemoteServer } from '../remote/remote-server.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { NodeError, type NodeErrorCode } from './node-error.ts';
import { withNewLedger } from './open-store.ts';
import { readInputFile } from './settings/input.ts';

const MAX_WAYPOINT_FILE_BYTES = 4096;
/** For one attempt to download a genesis; the next one continues it. */
const DOWNLOAD_TIMEOUTS = { silenceTimeoutMs: 15_000, totalTimeoutMs: 120_000 };

export interface InitReport {
  readonly chainId: number;
  /** `0:` + 64 hex digits. */
  readonly waypoint: string;
  readonly waypointCompared: boolean;
  readonly counts: GenesisCounts;
}

/**
 * Creates a ledger in `data` from a genesis.
 * @param genesisFile a file, or its URL
 * @param waypointOrFile the waypoint's text or a file that contains it
 * @param onStage gets the current stage
 * @param distribute over the workers of Citus
 * @throws NodeError: `file_not_readable`, `not_a_genesis`, `waypoint_mismatch`, `ledger_exists`, `data_not_usable`
 */
export async function initLedger(
  data: string,
  genesisFile: string,
  waypointOrFile?: string,
  onStage: (stage: string) => void = () => undefined,
  distribute = false,
): Promise<InitReport> {
  const expected = waypointOrFile === undefined ? undefined : readWaypoint(waypointOrFile);
  onStage(`reading ${genesisFile}`);
  const bytes = /^https?:\/\//i.test(genesisFile)
    ? await downloadedGenesis(genesisFile)
    : readInputFile(genesisFile, 'genesis file', MAX_GENESIS_BYTES);
  const genesis = withGenesisErrors(
    () => readGenesis(bytes),
    ({ message }) => ['not_a_genesis', `${genesisFile}: ${message}`],
  );
  onStage('computing the hashes of genesis');
  const hashes = withGenesisErrors(
    () =>
      expected === undefined ? computeGenesisHashes(genesis) : checkWaypoint(genesis, expected),
    ({ message }) => ['waypoint_mismatch', `${message}; nothing was stored`],
  );
  onStage('storing genesis');
  const store = (writer: LedgerWriter) =>
    new Committer(writer).pushAll([chunkOfGenesis(genesis, hashes)]);
  await withNewLedger(data, store, distribute);
  return {
    chainId: genesis.chainId,
    waypoint: formatWaypoint(hashes.waypoint),
    waypointCompared: expected !== undefined,
    counts: genesis.counts,
  };
}

/** @throws NodeError `file_not_readable` */
async function downloadedGenesis(text: string): Promise<Buffer> {
  try {
    const url = urlOf(text);
    const server = new RemoteServer(url);
    const bounds = { maxBytes: MAX_GENESIS_BYTES, ...DOWNLOAD_TIMEOUTS };
    try {
      const { status, body } = await download(server, url, bounds);
      if (status === 200) return body;
      throw new NodeError('file_not_readable', `${text}: the server answers with ${status}`);
    } finally {
      server.close();
    }
  } catch (cause) {
    if (!(cause instanceof RemoteError)) throw cause;
    const message = `cannot read the genesis file: ${cause.message}`;
    throw new NodeError('file_not_readable', message, { cause });
  }
}

/**
 * Parses a waypoint, or reads it from a file of that name.
 * @throws NodeError `bad_input` (exit code 2 for a malformed text), `file_not_readable`
 */
export function readWaypoint(textOrFile: string): Waypoint {
  const isText = /^\s*\d+:/.test(textOrFile);
  const text = isText
    ? textOrFile
    : readInputFile(textOrFile, 'waypoint file', MAX_WAYPOINT_FILE_BYTES).toString('utf8');
  try {
    return parseWaypoint(text);
  } catch (cause) {
    if (!(cause instanceof WaypointTextError)) throw cause;
    const where = isText ? '--waypoint' : `waypoint file ${textOrFile}`;
    const message = `${where}: ${cause.message}`;
    throw new NodeError('bad_input', message, { cause, exitCode: isText ? 2 : 1 });
  }
}

function withGenesisErrors<T>(
  work: () => T,
  describe: (error: GenesisError) => [code: NodeErrorCode, message: string],
): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof GenesisError)) throw cause;
    throw new NodeError(...describe(cause), { cause });
  }
}
