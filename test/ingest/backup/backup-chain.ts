/** The reference's chain with validators of our own, and backups of it in separate folders. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { endsEpoch } from '../../../src/ingest/chunk-builder.ts';
import { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import { accumulatorRoot } from '../../../src/move/crypto/accumulator.ts';
import { HASH_BYTES } from '../../../src/move/crypto/hash.ts';
import { readOnChainData } from '../../../src/move/transactions/transaction.ts';
import {
  TransactionInfo,
  transactionInfoHash,
} from '../../../src/move/transactions/transaction-info.ts';
import { NEWEST_VERSION, referenceTransaction } from '../../reference/reference-chain.ts';
import {
  type BackupShape,
  type TestChain,
  type TestValidator,
  testValidator,
  type WrittenBackup,
  writeBackup,
} from './backup-writer.ts';

/** Seed of all keys. */
const KEY_SEED = 'daybook backup';
const VALIDATORS = Array.from({ length: 11 }, (_, index) =>
  testValidator(`${KEY_SEED} ${index}`, BigInt(10 + index)),
);

/** Nine validators. In each epoch one is replaced, and the powers change. */
function validatorsOf(epoch: number): readonly TestValidator[] {
  return Array.from({ length: 9 }, (_, index) => {
    const validator = VALIDATORS[(index + epoch) % VALIDATORS.length]!;
    return { ...validator, power: validator.power + BigInt(epoch) };
  });
}

let chain: TestChain | undefined;

/** All versions of the reference's chain, whose last epoch is open. */
export function backupChain(): TestChain {
  if (chain === undefined) {
    const items = Array.from({ length: NEWEST_VERSION + 1 }, (_, at) => referenceTransaction(at));
    const epochEnds = items.flatMap((item, version) => {
      const { events } = readOnChainData(new BcsReader(item)).bytes;
      return endsEpoch(BigInt(version), events) ? [version] : [];
    });
    chain = { items, epochEnds, validators: validatorsOf };
  }
  return chain;
}

/** The beginning of the chain: two epochs, and a hundred versions of the third, which is open. */
export function shortChain(): TestChain {
  const whole = backupChain();
  short ??= { ...whole, items: whole.items.slice(0, 102), epochEnds: whole.epochEnds.slice(0, 2) };
  return short;
}
let short: TestChain | undefined;

/** The same transactions with infos from before 2025-06, which had no hash of an auxiliary info. */
export function withoutAuxiliaryInfos(of: TestChain): TestChain {
  plain ??= { ...of, items: [...plainItems(of)] };
  return plain;
}
let plain: TestChain | undefined;

function* plainItems({ items }: TestChain): Generator<Buffer> {
  const leaves: Buffer[] = [];
  for (const item of items) {
    const { data, bytes } = readOnChainData(new BcsReader(item));
    const info = TransactionInfo.encode({ ...data.info, auxiliaryInfoHash: undefined });
    leaves.push(transactionInfoHash(info));
    const events = item.subarray(item.indexOf(bytes.info) + bytes.info.length);
    const rest = events.length - bytes.changes.length - HASH_BYTES;
    yield Buffer.concat([
      ...[item.subarray(0, 8), bytes.transaction, info, events.subarray(0, rest)],
      ...[accumulatorRoot('TransactionAccumulator', leaves), bytes.changes],
    ]);
  }
}

const SHAPE: BackupShape = {
  isGzip: true,
  format: 'V1',
  epochsPerBackup: 2,
  epochsPerChunk: 1,
  keysPerChunk: 400,
  snapshotEpochs: [],
  transactionsPerChunk: 300,
};

/** Folders are kept until the process exits, so that test files that share this module share the backups. */
const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-backup-'));
  folders.push(folder);
  return folder;
}

/** Backups by chain and shape: writing one takes a second, copying it no time. */
const written = new Map<TestChain, Map<string, WrittenBackup>>();

/** A backup of the chain in a folder of its own. */
export function newBackup(shape: Partial<BackupShape> = {}, of = backupChain()): WrittenBackup {
  const whole = { ...SHAPE, ...shape };
  if (shape.signers ?? shape.nextEpochs ?? shape.statedEpochs) {
    return writeBackup(newFolder(), of, whole);
  }
  const name = JSON.stringify(whole);
  const ofChain = written.get(of) ?? new Map<string, WrittenBackup>();
  written.set(of, ofChain);
  const original = ofChain.get(name) ?? writeBackup(newFolder(), of, whole);
  ofChain.set(name, original);
  const folder = newFolder();
  cpSync(original.folder, folder, { recursive: true });
  return { ...original, folder };
}

/** Changes a file of a backup; `edit` gets the uncompressed bytes. */
export function change(
  { folder }: WrittenBackup,
  handle: string,
  edit: (bytes: Buffer) => Buffer,
): void {
  const path = join(folder, handle);
  const stored = readFileSync(path);
  const isGzip = stored[0] === 0x1f && stored[1] === 0x8b;
  const edited = edit(isGzip ? gunzipSync(stored) : stored);
  writeFileSync(path, isGzip ? gzipSync(edited) : edited);
}

/** Changes a JSON file. */
export function changeJson<T>(
  backup: WrittenBackup,
  handle: string,
  edit: (json: T) => unknown,
): void {
  change(backup, handle, (bytes) => {
    const json = JSON.parse(bytes.toString()) as T;
    return Buffer.from(`${JSON.stringify(edit(json) ?? json)}\n`);
  });
}

/** The records of a chunk file. */
export function recordsIn(bytes: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    records.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return records;
}

/** The only file whose handle begins and ends like this. */
export function fileOf({ files }: WrittenBackup, start: string, end: string): string {
  const [file, ...others] = files.filter((name) => name.startsWith(start) && name.endsWith(end));
  if (file === undefined || others.length > 0) throw new Error(`not one file ${start}…${end}`);
  return file;
}
