/** Files and pages from other nodes: backups, feeds, genesis, stored values. */

import { BackupError } from '../../src/ingest/backup/backup-error.ts';
import { recordsOf } from '../../src/ingest/backup/backup-files.ts';
import type { BackupSource } from '../../src/ingest/backup/backup-source.ts';
import { encodeLedgerFacts, parseLedgerFacts } from '../../src/ingest/backup/ledger-facts.ts';
import { readInfoProof, readRangeProofOf } from '../../src/ingest/backup/ledger-proofs.ts';
import { readStateManifest } from '../../src/ingest/backup/manifests.ts';
import { PageError } from '../../src/ingest/feed/page-error.ts';
import { PageVerifier } from '../../src/ingest/feed/page-verifier.ts';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { compress, expand } from '../../src/store/sqlite/lz4.ts';
import {
  CHECKSUM_BYTES,
  markOf,
  putChecksum,
  StoredValueError,
} from '../../src/store/sqlite/stored-value.ts';
import { encodeRecord, VersionRecord } from '../../src/store/sqlite/version-record.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { smallGenesisFile } from '../../test/api/genesis-small.ts';
import { pageOf, randomChain } from '../../test/ingest/feed-chain.ts';
import { decoderTarget, expectSameBytes } from './decoders.ts';

const CHAIN_SEED = 7;
const CHAIN = randomChain(CHAIN_SEED, 8, 5n);

const HASH = '07'.repeat(32);
const FOLDER = 'state_epoch_2_ver_9.0c3d';

const MANIFEST = Buffer.from(
  JSON.stringify({
    ...{ version: 9, epoch: 2, root_hash: HASH },
    chunks: [
      {
        ...{ first_idx: 0, last_idx: 4, first_key: HASH, last_key: HASH },
        ...{ blobs: `${FOLDER}/0-.chunk`, proof: `${FOLDER}/0-4.proof` },
      },
    ],
    ...{ proof: `${FOLDER}/state.proof`, signed: false },
    ledger: { file: `${FOLDER}/ledger.json`, sha256: HASH },
  }),
);

const FACTS = encodeLedgerFacts(
  {
    chainId: 4,
    genesis: { version: 0n, hash: Buffer.alloc(32) },
    timestampUsecs: 1n,
    newestVersion: 9n,
  },
  [{ first_idx: 0, last_idx: 3, blobs: `${FOLDER}/streams-0-.chunk`, sha256: HASH }],
);

/** Two records of a chunk. */
const RECORDS = Buffer.from('00000002010200000003030405', 'hex');

async function readManifest(bytes: Buffer): Promise<void> {
  const source = { read: async () => bytes } as unknown as BackupSource;
  const backup = { epoch: 2n, version: 9n, manifest: `${FOLDER}/state.manifest` };
  await readStateManifest(source, backup, new AbortController().signal);
}

/** An accepted page must be the original one: hashes cover everything except decrypted content. */
function verifyPage(bytes: Buffer): void {
  const start = { nextVersion: CHAIN.firstVersion, frozenRoots: CHAIN.frozenRoots };
  const verifier = new PageVerifier({ ...start, trustedRoots: [], waypoint: undefined });
  verifier.verify(Uint8Array.from(bytes));
}

const refused = [PageError, BackupError, StoreError, StoredValueError];

export const filesTarget = decoderTarget(
  'files',
  'backups, pages of feeds, genesis, compressed values',
  [
    { name: 'page', samples: () => [Buffer.from(pageOf(CHAIN.items))], run: verifyPage },
    {
      name: 'manifest',
      samples: () => [MANIFEST],
      run: readManifest,
    },
    {
      name: 'ledger facts',
      samples: () => [FACTS],
      run: (bytes) => void parseLedgerFacts(bytes, 'ledger.json'),
    },
    {
      name: 'records of a chunk',
      samples: () => [RECORDS],
      run: (bytes) => void [...recordsOf(bytes, 2n, '0-.chunk')],
    },
    {
      name: 'genesis',
      samples: () => [smallGenesisFile()],
      run: (bytes) => void readGenesis(bytes),
    },
    {
      name: 'compressed value',
      samples: () => chainSamples().map((bytes) => compress([bytes])),
      run: (bytes) => void expand(bytes),
    },
    {
      name: 'value to compress',
      samples: chainSamples,
      run: (bytes) => {
        expectSameBytes('value', expand(compress([bytes])), bytes);
      },
    },
    {
      name: 'record of a version',
      samples: () => [
        encodeRecord(
          chainSamples().map((value, index) => ({ ...EVENT, index, value })),
          0,
        ),
      ],
      run: (bytes) => {
        // Fixes the checksum, so that the bytes behind it are attacked.
        if (bytes.length >= CHECKSUM_BYTES) putChecksum(bytes, markOf(0));
        new VersionRecord(bytes, 0).rows();
      },
    },
    {
      name: 'proof of an info',
      samples: () => [Buffer.alloc(300)],
      run: (bytes) => void readInfoProof(bytes, 'x'),
    },
    {
      name: 'proof of a range',
      samples: () => [Buffer.alloc(300)],
      run: (bytes) => void readRangeProofOf(bytes, 'x'),
    },
  ],
  (error) => refused.some((kind) => error instanceof kind),
);

/** The position of module events, of which a record may have many. */
const EVENT = { place: 3 };

function chainSamples(): Buffer[] {
  return CHAIN.items.map((item) => Buffer.from(item));
}
