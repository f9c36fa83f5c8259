/** What comes as files or pages of other nodes: snapshots, packed forks, feeds, genesis, stored values. */

import { unpackRows } from '../../src/fork/fork-pack.ts';
import { BackupError } from '../../src/ingest/backup/backup-error.ts';
import { readInfoProof, readRangeProofOf } from '../../src/ingest/backup/ledger-proofs.ts';
import { PageError } from '../../src/ingest/feed/feed-error.ts';
import { PageVerifier } from '../../src/ingest/feed/page-verifier.ts';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { chunkContent, streamEndsIn, valuesIn } from '../../src/ingest/snapshot/chunk-file.ts';
import {
  type ChunkEntry,
  encodeManifest,
  manifestHead,
  parseManifest,
  sha256Hex,
} from '../../src/ingest/snapshot/manifest.ts';
import { SnapshotError } from '../../src/ingest/snapshot/snapshot-error.ts';
import { FORK_LAYOUT } from '../../src/store/columns/fork-columns.ts';
import { TRANSACTION_DICTIONARY } from '../../src/store/sqlite/transaction-dictionary.ts';
import { CompressedValueError, ValueCompressor } from '../../src/store/sqlite/value-compression.ts';
import { encodeRecord, rowsOfRecord, valuesOf } from '../../src/store/sqlite/version-record.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { smallGenesisFile } from '../../test/api/genesis-small.ts';
import { pageOf, randomChain } from '../../test/ingest/feed-chain.ts';
import { Finding } from '../target.ts';
import { decoderTarget, expectSameBytes } from './decoders.ts';

const CHAIN_SEED = 7;
const CHAIN = randomChain(CHAIN_SEED, 8, 5n);
const compressor = new ValueCompressor(TRANSACTION_DICTIONARY);

function entryOf(content: Buffer, contentBytes: number): ChunkEntry {
  return {
    ...{ name: 'state-000000.zst', kind: 'state', records: 1, contentBytes },
    ...{ bytes: content.length, sha256: sha256Hex(content) },
  };
}

const MANIFEST = encodeManifest({
  ...{ chainId: 4, genesisWaypointHash: Buffer.alloc(32), version: 9n, timestampUsecs: 1n },
  ...{ epoch: 2n, blockHeight: 3n, info: Buffer.alloc(40), rootsBefore: [Buffer.alloc(32)] },
  ...{ newestVersion: 20n, chunks: [entryOf(Buffer.of(1), 5)] },
});

/** A frame of zstd with one raw block. */
const FRAME = Buffer.from('28b52ffd2005290000' + '0102030405' + '000000000000', 'hex');

/** A page that is taken must be the one that was made: hashes cover all but what came of decrypting. */
function verifyPage(bytes: Buffer): void {
  const start = { nextVersion: CHAIN.firstVersion, frozenRoots: CHAIN.frozenRoots };
  const verifier = new PageVerifier({ ...start, trustedRoots: [], waypoint: undefined });
  verifier.verify(Uint8Array.from(bytes));
}

async function readChunk(file: Buffer): Promise<void> {
  const content = await chunkContent(entryOf(file, 5), file);
  if (content.length !== 5) throw new Finding('a chunk of another length');
}

const refused = [SnapshotError, PageError, BackupError, StoreError, CompressedValueError];

export const filesTarget = decoderTarget(
  'files',
  'snapshots, packed forks, pages of feeds, genesis, compressed values',
  [
    { name: 'page', samples: () => [Buffer.from(pageOf(CHAIN.items))], run: verifyPage },
    {
      name: 'manifest',
      samples: () => [MANIFEST],
      run: (bytes) => {
        manifestHead(bytes);
        expectSameBytes('manifest', encodeManifest(parseManifest(bytes)), bytes);
      },
    },
    { name: 'chunk', samples: () => [FRAME], run: readChunk },
    {
      name: 'values of a chunk',
      samples: () => [Buffer.alloc(80)],
      run: (bytes) => void valuesIn(entryOf(bytes, bytes.length), bytes),
    },
    {
      name: 'streams of a chunk',
      samples: () => [Buffer.alloc(60)],
      run: (bytes) => void streamEndsIn(entryOf(bytes, bytes.length), bytes),
    },
    {
      name: 'packed fork',
      samples: () => {
        const format = Buffer.alloc(4);
        format.writeUInt32LE(FORK_LAYOUT.format);
        return [Buffer.concat([format, Buffer.alloc(40)])];
      },
      run: (bytes) => void unpackRows(bytes),
    },
    {
      name: 'genesis',
      samples: () => [smallGenesisFile()],
      run: (bytes) => void readGenesis(bytes),
    },
    {
      name: 'compressed value',
      samples: () => chainSamples().map((bytes) => compressor.compress([bytes])),
      run: (bytes) => void compressor.expand(bytes),
    },
    {
      name: 'value to compress',
      samples: chainSamples,
      run: (bytes) => {
        expectSameBytes('value', compressor.expand(compressor.compress([bytes])), bytes);
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
        for (const { from, to } of rowsOfRecord(bytes)) valuesOf(bytes, from, to);
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

/** The place of module events in a record, which may be many. */
const EVENT = { place: 2 };

function chainSamples(): Buffer[] {
  return CHAIN.items.map((item) => Buffer.from(item));
}
