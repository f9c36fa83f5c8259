// Restoring a public backup: the signature of one epoch of mainnet (138 validators, 92 signers), and the keys of a state
// that are unpacked, proved and stored in a folder.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { restoreState } from '../dist/ingest/backup/state-snapshot.js';
import { BcsReader } from '../dist/move/bcs/bcs-reader.js';
import { encodeBcs } from '../dist/move/bcs/bcs-writer.js';
import { sha3 } from '../dist/move/crypto/hash.js';
import { SPARSE_MERKLE_PLACEHOLDER, StateRootBuilder } from '../dist/move/crypto/sparse-merkle.js';
import { readSignedLedgerInfo } from '../dist/move/transactions/ledger-info.js';
import { ValidatorSignatures } from '../dist/move/transactions/validator-signatures.js';
import { readEpochState } from '../dist/move/transactions/waypoint.js';
import { stateKeyHash } from '../dist/move/types/state-key.js';
import { stateValueHash } from '../dist/move/types/state-value.js';
import { openSqliteStore } from '../dist/store/sqlite/sqlite-store.js';
import { StateImport } from '../dist/store/state-import.js';
import { shownSummary, summary } from './statistics.mjs';

export const name = 'backup';
export const title = 'Backup: signatures of epochs, keys of a state';

const SIGNATURES = 50;
const KEYS = 100_000;
const VALUE_BYTES = 200;
const SOURCE = sha3(Buffer.from('bench'));
const NEVER = new AbortController().signal;

export async function run({ rounds, log }) {
  const epochs = [];
  const keys = [];
  const keyCpus = [];
  const signedEpoch = readFixture();
  const chunk = makeChunk();
  const signatures = new ValidatorSignatures();
  signatures.check(signedEpoch.validators, signedEpoch.signed);
  for (let round = 0; round < rounds; round += 1) {
    epochs.push(signatureMs(signatures, signedEpoch));
    const before = process.cpuUsage();
    keys.push(await keysPerSecond(chunk));
    const { user, system } = process.cpuUsage(before);
    keyCpus.push((user + system) / KEYS);
  }
  log(`signature of an epoch, keys decoded  ${shownSummary(summary(epochs))} ms of processor time`);
  log(`keys of a state                      ${shownSummary(summary(keys))} /s`);
  log(`the same, of processor time          ${shownSummary(summary(keyCpus))} µs each`);
  return {
    signatureCpuMs: summary(epochs),
    keysPerSecond: summary(keys),
    keyCpuUs: summary(keyCpus),
  };
}

function readFixture() {
  const file = new URL('../test/fixtures/mainnet-epoch-7495.br', import.meta.url);
  const reader = new BcsReader(brotliDecompressSync(readFileSync(file)));
  const { validators } = readEpochState(reader);
  return { validators, signed: readSignedLedgerInfo(reader) };
}

function signatureMs(signatures, { validators, signed }) {
  const before = process.cpuUsage();
  for (let count = 0; count < SIGNATURES; count += 1) signatures.check(validators, signed);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / SIGNATURES;
}

/** One chunk with a whole state: table items in the order of their hashes, and the proof of the last. */
function makeChunk() {
  const values = Array.from({ length: KEYS }, (_, index) => {
    const handle = sha3(Buffer.from(`handle ${index % 100}`));
    const item = sha3(Buffer.from(`item ${index}`));
    const key = Buffer.concat([Buffer.of(1), handle, item]);
    const bytes = Buffer.alloc(VALUE_BYTES, item);
    return { hash: stateKeyHash(key), handle, item, value: { bytes, metadata: undefined } };
  }).sort((left, right) => Buffer.compare(left.hash, right.hash));
  const root = new StateRootBuilder();
  const records = values.map(({ hash, handle, item, value }) => {
    root.add(hash, stateValueHash(value));
    const record = encodeBcs((writer) => {
      writer.uleb32(1).fixed(handle).bytes(item).uleb32(0).bytes(value.bytes);
    });
    const length = Buffer.alloc(4);
    length.writeUInt32BE(record.length);
    return Buffer.concat([length, record]);
  });
  const [beforeLast, last] = values.slice(-2).map(({ hash }) => hash);
  return {
    data: Buffer.concat(records),
    proof: proofOfLast(beforeLast, last),
    rootHash: root.rootHash(),
    firstKey: values[0].hash,
    lastKey: last,
  };
}

/** Nothing is to the right of the last key: a placeholder for every zero on its path. */
function proofOfLast(before, last) {
  const bits = (key) => [...key].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const [left, right] = [bits(before), bits(last)];
  let depth = 0;
  while (left[depth] === right[depth]) depth += 1;
  const zeros = [...right.slice(0, depth + 1)].filter((bit) => bit === '0').length;
  return Buffer.concat([Buffer.of(zeros), ...Array(zeros).fill(SPARSE_MERKLE_PLACEHOLDER)]);
}

async function keysPerSecond({ data, proof, rootHash, firstKey, lastKey }) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  const store = await openSqliteStore({ directory: folder });
  const source = { read: async (handle) => (handle === 'data' ? data : proof) };
  const range = { first: 0n, last: BigInt(KEYS) - 1n, firstKey, lastKey };
  const manifest = { rootHash, chunks: [{ ...range, data: 'data', proof: 'proof' }] };
  const started = performance.now();
  const target = await StateImport.open(store, SOURCE, 1n);
  await restoreState(source, manifest, target, NEVER);
  const seconds = (performance.now() - started) / 1_000;
  await store.close();
  rmSync(folder, { recursive: true });
  return KEYS / seconds;
}
