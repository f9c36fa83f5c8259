/**
 * Writes backups as the reference does, from docs/spec/backup.md and without src/ingest: with trees by their
 * definitions, and validators with keys of their own.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { domainHash, domainSeed, sha3 } from '../../../src/move/crypto/hash.ts';
import {
  type EncodedOnChainData,
  readOnChainData,
} from '../../../src/move/transactions/transaction.ts';
import { addressBytes } from '../../../src/move/types/address.ts';
import { physicalStateKey, StateKey, stateKeyHash } from '../../../src/move/types/state-key.ts';
import { StateValue } from '../../../src/move/types/state-value.ts';
import { NaiveAccumulator, stateRangeProof, stateRoot } from './backup-trees.ts';

export const SIGNATURE_DOMAIN = Buffer.from('BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_');
const scheme = bls12_381.longSignatures;

export interface TestValidator {
  readonly address: string;
  readonly secretKey: Buffer;
  readonly publicKey: Buffer;
  readonly power: bigint;
}

/** A validator with keys derived from a name. */
export function testValidator(name: string, power: bigint): TestValidator {
  const secretKey = sha3(Buffer.from(name));
  secretKey[0]! &= 0x0f;
  const publicKey = Buffer.from(scheme.getPublicKey(secretKey).toBytes(true));
  return { address: sha3(publicKey).toString('hex'), secretKey, publicKey, power };
}

/** A ledger info to sign at the end of an epoch, or later in it. */
export interface PlannedLedgerInfo {
  readonly epoch: number;
  readonly version: number;
  /** Absent: the epoch continues. */
  readonly next: readonly TestValidator[] | undefined;
  /** Absent: `epoch` + 1. */
  readonly nextEpoch?: number | undefined;
  readonly timestampUsecs: bigint;
  readonly rootHash: Buffer;
}

const u64 = (value: bigint | number) => encodeBcs((writer) => writer.u64(BigInt(value)));
const uleb = (value: number) => encodeBcs((writer) => writer.uleb32(value));
const sized = (bytes: Buffer) => Buffer.concat([uleb(bytes.length), bytes]);
const vector = (items: readonly Buffer[]) => Buffer.concat([uleb(items.length), ...items]);
const option = (bytes: Buffer | undefined) =>
  bytes === undefined ? Buffer.of(0) : Buffer.concat([Buffer.of(1), bytes]);

export function encodeLedgerInfo(info: PlannedLedgerInfo): Buffer {
  const { epoch, version, next, nextEpoch = epoch + 1, timestampUsecs, rootHash } = info;
  const isGenesis = version === 0;
  const fill = (text: string) => (isGenesis ? Buffer.alloc(32) : sha3(Buffer.from(text)));
  const state =
    next &&
    Buffer.concat([
      u64(nextEpoch),
      vector(
        next.map(({ address, publicKey, power }) =>
          Buffer.concat([addressBytes(address), sized(publicKey), u64(power)]),
        ),
      ),
    ]);
  return Buffer.concat([
    u64(epoch),
    u64(isGenesis ? 0 : version % 97),
    fill(`block ${version}`),
    rootHash,
    u64(version),
    u64(timestampUsecs),
    option(state),
    fill(`data ${version}`),
  ]);
}

export function waypointText(info: PlannedLedgerInfo): string {
  const { epoch, version, timestampUsecs, rootHash } = info;
  const bytes = encodeLedgerInfo(info);
  // The next epoch's state, which follows five fields of the ledger info, without the hash at the end.
  const state = bytes.subarray(8 + 8 + 32 + 32 + 8 + 8, bytes.length - 32);
  const covered = Buffer.concat([u64(epoch), rootHash, u64(version), u64(timestampUsecs), state]);
  return `${version}:${domainHash('Ledger2WaypointConverter', covered).toString('hex')}`;
}

/** LedgerInfoWithSignatures of some signers; unsigned without validators. */
export function signLedgerInfo(
  info: PlannedLedgerInfo,
  validators: readonly TestValidator[],
  signers: readonly number[],
): Buffer {
  const bytes = encodeLedgerInfo(info);
  if (signers.length === 0) return Buffer.concat([Buffer.of(0), bytes, Buffer.of(0, 0)]);
  const bitmask = Buffer.alloc(Math.ceil(validators.length / 8));
  for (const index of signers) bitmask[index >> 3]! |= 0x80 >> (index & 7);
  const message = Buffer.concat([domainSeed('LedgerInfo'), bytes]);
  const point = scheme.hash(message, SIGNATURE_DOMAIN);
  // The sum of the signatures is the signature with the sum of the keys.
  const secrets = signers.map((index) =>
    BigInt(`0x${validators[index]!.secretKey.toString('hex')}`),
  );
  const sum = secrets.reduce((left, right) => left + right) % bls12_381.fields.Fr.ORDER;
  const secret = Buffer.from(sum.toString(16).padStart(64, '0'), 'hex');
  const signature = Buffer.from(scheme.sign(point, secret).toBytes(true));
  return Buffer.concat([...[Buffer.of(0), bytes, sized(bitmask), option(sized(signature))]]);
}

/** Records of a chunk file. */
export function framed(records: readonly Buffer[]): Buffer {
  return Buffer.concat(
    records.flatMap((record) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(record.length);
      return [length, record];
    }),
  );
}

/** A chain to back up. */
export interface TestChain {
  /** BCS of the TransactionOnChainData of each version. */
  readonly items: readonly Buffer[];
  /** The last version of each epoch, from epoch 0 on; later versions belong to an open epoch. */
  readonly epochEnds: readonly number[];
  /** Validators of an epoch. */
  readonly validators: (epoch: number) => readonly TestValidator[];
}

export interface BackupShape {
  readonly isGzip: boolean;
  readonly format: 'V0' | 'V1';
  /** Absent: one backup of all epochs. */
  readonly epochsPerBackup?: number;
  readonly epochsPerChunk: number;
  readonly keysPerChunk: number;
  /** Epochs whose final state is backed up. */
  readonly snapshotEpochs: readonly number[];
  /** Absent: transactions are not backed up. */
  readonly transactionsPerBackup?: number;
  readonly transactionsPerChunk: number;
  /** Whether the newest ledger info proves a snapshot; absent: the one that ends its epoch does. */
  readonly isProvedByNewest?: boolean;
  /** The next epoch according to an epoch's end; `null`: none. Absent: the following one. */
  readonly nextEpochs?: (epoch: number) => number | null;
  /** The epoch that an epoch's end claims to be of, and whose validators sign it; absent: its own. */
  readonly statedEpochs?: (epoch: number) => number;
  /** Signers of an epoch's end; absent: all. */
  readonly signers?: (epoch: number) => readonly number[];
}

export interface WrittenBackup {
  readonly folder: string;
  /** `version:hash` of each epoch's end. */
  readonly waypoints: readonly string[];
  /** Handles of all files. */
  readonly files: readonly string[];
}

interface ChainVersion extends EncodedOnChainData {
  readonly infoHash: Buffer;
}

/** Writes a backup of a chain into a folder. */
export function writeBackup(folder: string, chain: TestChain, shape: BackupShape): WrittenBackup {
  const writer = new BackupWriter(folder, chain, shape);
  writer.writeEpochEndings();
  for (const epoch of shape.snapshotEpochs) writer.writeSnapshot(epoch);
  writer.writeTransactions();
  writer.save('metadata/identity.meta', metadataLine('Identity', { id: '11'.repeat(32) }));
  return { folder, waypoints: writer.waypoints, files: writer.files };
}

const metadataLine = (tag: string, fields: object) =>
  Buffer.from(`${JSON.stringify({ [tag]: fields })}\n`);

class BackupWriter {
  readonly files: string[] = [];
  readonly waypoints: readonly string[];
  readonly #folder: string;
  readonly #chain: TestChain;
  readonly #shape: BackupShape;
  readonly #versions: readonly ChainVersion[];
  readonly #endings: readonly Buffer[];

  constructor(folder: string, chain: TestChain, shape: BackupShape) {
    this.#folder = folder;
    this.#chain = chain;
    this.#shape = shape;
    this.#versions = chain.items.map((item) => {
      const read = readOnChainData(new BcsReader(item));
      return { ...read, infoHash: domainHash('TransactionInfo', read.bytes.info) };
    });
    const plans = chain.epochEnds.map((_, epoch) => this.#plan(epoch));
    this.waypoints = plans.map(waypointText);
    this.#endings = plans.map((plan) => this.#signed(plan));
  }

  save(handle: string, bytes: Buffer): string {
    const path = join(this.#folder, handle);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.#shape.isGzip ? gzipSync(bytes, { level: 1 }) : bytes);
    this.files.push(handle);
    return handle;
  }

  writeEpochEndings(): void {
    const { epochsPerBackup = this.#endings.length, epochsPerChunk } = this.#shape;
    for (const [first, last] of ranges(0, this.#endings.length - 1, epochsPerBackup)) {
      const name = `epoch_ending_${first}-.${suffix(first)}`;
      const chunks = ranges(first, last, epochsPerChunk).map(([from, to]) => ({
        first_epoch: from,
        last_epoch: to,
        ledger_infos: this.save(
          `${name}/${from}-.chunk`,
          framed(this.#endings.slice(from, to + 1)),
        ),
      }));
      const waypoints = this.waypoints.slice(first, last + 1);
      const manifest = this.#saveManifest(`${name}/epoch_ending.manifest`, {
        ...{ first_epoch: first, last_epoch: last, waypoints, chunks },
      });
      const { epochEnds } = this.#chain;
      const line = metadataLine('EpochEndingBackup', {
        ...{ first_epoch: first, last_epoch: last },
        ...{ first_version: epochEnds[first], last_version: epochEnds[last], manifest },
      });
      this.save(`metadata/epoch_ending_${first}-${last}.meta`, line);
      // Compacted files repeat the lines of single ones.
      if (first === 0) this.save(`metadata/epoch_ending_compacted_0-${last}.meta`, line);
    }
  }

  writeSnapshot(epoch: number): void {
    const version = this.#chain.epochEnds[epoch]!;
    const name = `state_epoch_${epoch}_ver_${version}.${suffix(version)}`;
    const items = this.#stateAt(version);
    const leaves = items.map(({ key, value }) => ({
      key,
      valueHash: domainHash('StateValue', value),
    }));
    const chunks = ranges(0, items.length - 1, this.#shape.keysPerChunk).map(([from, to]) => {
      const part = items.slice(from, to + 1);
      const records = part.map(({ stateKey, value }) => Buffer.concat([stateKey, value]));
      const lastKey = items[to]!.key;
      return {
        ...{ first_idx: from, last_idx: to },
        first_key: items[from]!.key.toString('hex'),
        last_key: lastKey.toString('hex'),
        blobs: this.save(`${name}/${from}-.chunk`, framed(records)),
        proof: this.save(`${name}/${from}-${to}.proof`, vector(stateRangeProof(leaves, lastKey))),
      };
    });
    const newest = this.#versions.length - 1;
    const { isProvedByNewest } = this.#shape;
    const { bytes, accumulator } = this.#ledgerInfoFor(isProvedByNewest ? newest : version);
    const { info } = this.#versions[version]!.bytes;
    const proof = Buffer.concat([vector(accumulator.siblings(version)), info, bytes]);
    const manifest = this.#saveManifest(`${name}/state.manifest`, {
      ...{ version, epoch, root_hash: stateRoot(leaves).toString('hex'), chunks },
      proof: this.save(`${name}/state.proof`, proof),
    });
    const line = metadataLine('StateSnapshotBackup', { epoch, version, manifest });
    this.save(`metadata/state_snapshot_ver_${version}.meta`, line);
  }

  writeTransactions(): void {
    const last = this.#versions.length - 1;
    const { transactionsPerBackup } = this.#shape;
    if (transactionsPerBackup === undefined) return;
    for (const [first, end] of [[0, 0], ...ranges(1, last, transactionsPerBackup)]) {
      this.#writeTransactions(first!, end!);
    }
  }

  #writeTransactions(first: number, last: number): void {
    const { format, transactionsPerChunk } = this.#shape;
    const name = `transaction_${first}-.${suffix(first)}`;
    const chunks = ranges(first, last, transactionsPerChunk).map(([from, to]) => {
      const records = this.#versions
        .slice(from, to + 1)
        .map((version, index) => this.#record(version, from + index));
      const signed = this.#ledgerInfoFor(to);
      const { left, right } = signed.accumulator.range(from, to);
      return {
        ...{ first_version: from, last_version: to },
        transactions: this.save(`${name}/${from}-.chunk`, framed(records)),
        proof: this.save(
          `${name}/${from}-${to}.proof`,
          Buffer.concat([vector(left), vector(right), signed.bytes]),
        ),
        ...(format === 'V1' ? { format } : {}),
      };
    });
    const manifest = this.#saveManifest(`${name}/transaction.manifest`, {
      ...{ first_version: first, last_version: last, chunks },
    });
    const fields = { first_version: first, last_version: last, manifest };
    this.save(
      `metadata/transaction_${first}-${last}.meta`,
      metadataLine('TransactionBackup', fields),
    );
  }

  #record({ bytes, data }: ChainVersion, version: number): Buffer {
    const auxiliary =
      this.#shape.format === 'V0' ? Buffer.alloc(0) : this.#auxiliary(data, version);
    return Buffer.concat([
      ...[bytes.transaction, auxiliary, bytes.info, vector(bytes.events), bytes.changes],
    ]);
  }

  /**
   * The reference's API does not return the index of a transaction in its block, but the hash in the info determines
   * it.
   */
  #auxiliary({ info }: EncodedOnChainData['data'], version: number): Buffer {
    if (info.auxiliaryInfoHash === undefined) return Buffer.of(0);
    for (let index = 0; index <= version; index += 1) {
      const bytes = encodeBcs((writer) => writer.u8(1).u32(index));
      if (domainHash('PersistedAuxiliaryInfo', bytes).equals(info.auxiliaryInfoHash)) return bytes;
    }
    throw new Error(`version ${version} has an unknown auxiliary info`);
  }

  /** The ledger info that ends the epoch of a version, or the newest one. */
  #ledgerInfoFor(version: number): { bytes: Buffer; accumulator: NaiveAccumulator } {
    const { epochEnds } = this.#chain;
    const epoch = epochEnds.findIndex((end) => end >= version);
    if (epoch >= 0) {
      return { bytes: this.#endings[epoch]!, accumulator: this.#accumulator(epochEnds[epoch]!) };
    }
    const newest = this.#versions.length - 1;
    const plan = { ...this.#planOf(epochEnds.length, newest), next: undefined };
    return { bytes: this.#signed(plan), accumulator: this.#accumulator(newest) };
  }

  #plan(epoch: number): PlannedLedgerInfo {
    return this.#planOf(epoch, this.#chain.epochEnds[epoch]!);
  }

  #planOf(epoch: number, version: number): PlannedLedgerInfo {
    const nextEpoch = this.#shape.nextEpochs?.(epoch);
    const next = nextEpoch === null ? undefined : this.#chain.validators(epoch + 1);
    return {
      ...{ version, next, nextEpoch: nextEpoch ?? epoch + 1 },
      epoch: this.#shape.statedEpochs?.(epoch) ?? epoch,
      timestampUsecs: timestampAt(this.#versions, version),
      rootHash: this.#versions[version]!.data.accumulatorRootHash,
    };
  }

  #signed(plan: PlannedLedgerInfo): Buffer {
    const validators = plan.epoch === 0 ? [] : this.#chain.validators(plan.epoch);
    const all = validators.map((_, index) => index);
    return signLedgerInfo(plan, validators, this.#shape.signers?.(plan.epoch) ?? all);
  }

  #accumulator(version: number): NaiveAccumulator {
    const leaves = this.#versions.slice(0, version + 1).map(({ infoHash }) => infoHash);
    return new NaiveAccumulator(leaves);
  }

  #stateAt(version: number): readonly { key: Buffer; stateKey: Buffer; value: Buffer }[] {
    const state = new Map<string, { key: Buffer; stateKey: Buffer; value: Buffer }>();
    for (const { data } of this.#versions.slice(0, version + 1)) {
      for (const { key, op } of data.changes.writes) {
        const hash = stateKeyHash(physicalStateKey(key));
        if (op.kind === 'deletion') {
          state.delete(hash.toString('hex'));
          continue;
        }
        const value = StateValue.encode(op);
        const stateKey = StateKey.encode(key);
        state.set(hash.toString('hex'), { key: hash, stateKey, value });
      }
    }
    return [...state.values()].sort((left, right) => Buffer.compare(left.key, right.key));
  }

  #saveManifest(handle: string, fields: object): string {
    return this.save(handle, Buffer.from(JSON.stringify(fields)));
  }
}

/** The time of the block of a version. */
function timestampAt(versions: readonly ChainVersion[], version: number): bigint {
  for (let at = version; at > 0; at -= 1) {
    const { transaction } = versions[at]!.data;
    if (transaction.kind === 'blockMetadata') return transaction.metadata.timestampUsecs;
    if (transaction.kind === 'blockMetadataExt')
      return transaction.metadata.metadata.timestampUsecs;
  }
  return 0n;
}

/** Four hex digits in place of the random ones of a backup's name. */
const suffix = (seed: number): string => sha3(Buffer.from(`backup ${seed}`)).toString('hex', 0, 2);

/** Ranges of `size` from a first number to a last one. */
function ranges(first: number, last: number, size: number): [number, number][] {
  const parts: [number, number][] = [];
  for (let from = first; from <= last; from += size) {
    parts.push([from, Math.min(last, from + size - 1)]);
  }
  return parts;
}
