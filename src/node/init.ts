/** `daybook init`: from a genesis file to a ledger on disk, checked before anything is written. */
import { Committer } from '../ingest/committer.ts';
import {
  type Genesis,
  type GenesisCounts,
  GenesisError,
  MAX_GENESIS_BYTES,
  readGenesis,
} from '../ingest/genesis/genesis.ts';
import {
  checkWaypoint,
  chunkOfGenesis,
  type GenesisProof,
  proveGenesis,
} from '../ingest/genesis/genesis-waypoint.ts';
import {
  formatWaypoint,
  parseWaypoint,
  type Waypoint,
  WaypointTextError,
} from '../move/transactions/waypoint.ts';
import { NodeError } from './node-error.ts';
import { withNewLedger } from './open-store.ts';
import { readInputFile } from './settings/input-file.ts';

/** Most bytes read of a waypoint file. */
const MAX_WAYPOINT_FILE_BYTES = 4096;

/** What `init` made. */
export interface InitReport {
  readonly chainId: number;
  /** `0:` + 64 hex digits. */
  readonly waypoint: string;
  /** Whether a waypoint was given to compare with. */
  readonly waypointCompared: boolean;
  readonly counts: GenesisCounts;
}

/**
 * Makes a ledger in `dataFolder` from a genesis file.
 * @param waypointOrFile the waypoint's text or a file that holds it
 * @throws NodeError: `file_not_readable`, `not_a_genesis`, `waypoint_mismatch`, `ledger_exists`, `data_not_usable`
 */
export async function initLedger(
  dataFolder: string,
  genesisFile: string,
  waypointOrFile?: string,
): Promise<InitReport> {
  const expected = waypointOrFile === undefined ? undefined : readWaypoint(waypointOrFile);
  const genesis = decodeGenesis(genesisFile);
  const proof = prove(genesis, expected);
  await withNewLedger(dataFolder, (writer) =>
    new Committer(writer).pushAll([chunkOfGenesis(genesis, proof)]),
  );
  return {
    chainId: genesis.chainId,
    waypoint: formatWaypoint(proof.waypoint),
    waypointCompared: expected !== undefined,
    counts: genesis.counts,
  };
}

/**
 * The waypoint that a text is, or that a file of that name holds.
 * @throws NodeError `bad_input` (exit code 2 for a text that is none), `file_not_readable`
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
    throw new NodeError('bad_input', `${where}: ${cause.message}`, {
      cause,
      exitCode: isText ? 2 : 1,
    });
  }
}

function decodeGenesis(path: string): Genesis {
  const bytes = readInputFile(path, 'genesis file', MAX_GENESIS_BYTES);
  try {
    return readGenesis(bytes);
  } catch (cause) {
    if (!(cause instanceof GenesisError)) throw cause;
    throw new NodeError('not_a_genesis', `${path}: ${cause.message}`, { cause });
  }
}

function prove(genesis: Genesis, expected: Waypoint | undefined): GenesisProof {
  if (expected === undefined) return proveGenesis(genesis);
  try {
    return checkWaypoint(genesis, expected);
  } catch (cause) {
    if (!(cause instanceof GenesisError)) throw cause;
    const message = `${cause.message}; nothing was stored`;
    throw new NodeError('waypoint_mismatch', message, { cause });
  }
}
