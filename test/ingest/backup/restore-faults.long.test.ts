/**
 * Damaged and forged backups: for every check of docs/spec/backup.md §4.6 and §4.7 there is a backup that only it
 * refuses, at the right file.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../../random.ts';
import {
  change,
  changeJson,
  fileOf,
  newBackup,
  recordsIn,
  shortChain,
  withoutAuxiliaryInfos,
} from './backup-chain.ts';
import { type BackupShape, framed, type WrittenBackup } from './backup-writer.ts';
import { refusal } from './restoring.ts';

/** Distance between two changed bytes. */
const STRIDE_BYTES = IS_LONG ? 2_003 : 27_001;
const MALFORMED = 'backup_malformed';
const UNPROVED = 'backup_unproved';
const INCOMPLETE = 'backup_incomplete';

const SHAPE_OF_FAULTS = {
  ...{ isGzip: false, epochsPerBackup: 2, epochsPerChunk: 2, keysPerChunk: 100 },
  ...{ snapshotEpochs: [1], transactionsPerBackup: 60, transactionsPerChunk: 30 },
};
const forFaults = (shape: Partial<BackupShape> = {}, chain = shortChain()): WrittenBackup =>
  newBackup({ ...SHAPE_OF_FAULTS, ...shape }, chain);

type Edit = (bytes: Buffer) => Buffer | undefined;

/** The refusal of a backup with one changed file. */
async function refusalWith(start: string, end: string, edit: Edit, shape?: Partial<BackupShape>) {
  const backup = forFaults(shape);
  const file = fileOf(backup, start, end);
  change(backup, file, (bytes) => edit(bytes) ?? bytes);
  const found = await refusal(backup);
  return found && { ...found, isThere: found.file === file };
}

/** Flips a bit of the byte at an offset, which counts from the end if it is negative. */
const flip =
  (at: number): Edit =>
  (bytes) => {
    bytes[at < 0 ? bytes.length + at : at]! ^= 1;
    return bytes;
  };

const edited =
  (edit: (records: Buffer[]) => Buffer[]): Edit =>
  (bytes) =>
    framed(edit(recordsIn(bytes)));

interface StateManifest {
  version: number;
  epoch: number;
  root_hash: string;
  chunks: {
    first_idx: number;
    last_idx: number;
    first_key: string;
    last_key: string;
    blobs: string;
    proof: string;
  }[];
}

const asJson =
  <T>(edit: (json: T) => unknown): Edit =>
  (bytes) => {
    const json = JSON.parse(bytes.toString()) as T;
    edit(json);
    return Buffer.from(JSON.stringify(json));
  };

describe('the state of a snapshot', () => {
  const inManifest = (edit: (manifest: StateManifest) => unknown) =>
    refusalWith('state_epoch_1', '.manifest', asJson(edit));

  it('is taken as it was written', async () => {
    expect(await refusal(forFaults())).toBeUndefined();
    expect(await refusal(forFaults({ isGzip: true }))).toBeUndefined();
    expect(await refusal(forFaults({ keysPerChunk: 1_000 }))).toBeUndefined();
  });

  it('has chunks that are proved before anything of them is stored', async () => {
    for (const at of [6, 50, 4_000, -1]) {
      const found = await refusalWith('state_epoch_1', '/100-.chunk', flip(at));
      expect(found?.isThere, `byte ${at}`).toBe(true);
    }
    const swapped = edited(([a, b, ...rest]) => [b!, a!, ...rest]);
    expect(await refusalWith('state_epoch_1', '/100-.chunk', swapped)).toMatchObject({
      code: MALFORMED,
      isThere: true,
    });
    const twice = edited(([a, , ...rest]) => [a!, a!, ...rest]);
    expect(await refusalWith('state_epoch_1', '/100-.chunk', twice)).toMatchObject({
      code: MALFORMED,
      isThere: true,
    });
    for (const edit of [
      edited((records) => records.slice(0, -1)),
      edited((records) => [...records, records[0]!]),
    ]) {
      expect(await refusalWith('state_epoch_1', '/100-.chunk', edit)).toMatchObject({
        code: MALFORMED,
        isThere: true,
      });
    }
  });

  it('has no value less than were there', async () => {
    const backup = forFaults();
    // Removes one in the middle, and all counts agree.
    change(backup, fileOf(backup, 'state_epoch_1', '/100-.chunk'), (bytes) =>
      framed(recordsIn(bytes).filter((_, index) => index !== 50)),
    );
    changeJson<StateManifest>(backup, fileOf(backup, 'state_epoch_1', '.manifest'), (manifest) => {
      manifest.chunks[1]!.last_idx -= 1;
      manifest.chunks[2]!.first_idx -= 1;
      manifest.chunks[2]!.last_idx -= 1;
    });
    expect(await refusal(backup)).toEqual({
      code: UNPROVED,
      file: fileOf(backup, 'state_epoch_1', '/100-.chunk'),
    });
  });

  it('is whole: the last chunk too', async () => {
    expect(await inManifest(({ chunks }) => chunks.pop())).toMatchObject({ code: UNPROVED });
    expect(await inManifest(({ chunks }) => chunks.splice(1, 2))).toMatchObject({ code: UNPROVED });
  });

  it('has its chunks in order, each once', async () => {
    for (const edit of [
      ({ chunks }: StateManifest) => chunks.shift(),
      ({ chunks }: StateManifest) => chunks.splice(1, 1),
      ({ chunks }: StateManifest) => chunks.splice(1, 0, chunks[1]!),
      ({ chunks }: StateManifest) => chunks.reverse(),
      ({ chunks }: StateManifest) => chunks.splice(0),
    ]) {
      expect(await inManifest(edit)).toMatchObject({ code: MALFORMED, isThere: true });
    }
    // Swaps the files of two chunks.
    const swap = ({ chunks }: StateManifest) => {
      const [first, second] = [chunks[0]!, chunks[1]!];
      [first.blobs, second.blobs] = [second.blobs, first.blobs];
      [first.proof, second.proof] = [second.proof, first.proof];
    };
    expect(await inManifest(swap)).toMatchObject({ code: MALFORMED });
  });

  it('has the keys that the manifest names', async () => {
    const wrong = 'ab'.repeat(32);
    const first = ({ chunks }: StateManifest) => {
      chunks[1]!.first_key = wrong;
    };
    const last = ({ chunks }: StateManifest) => {
      chunks[1]!.last_key = wrong;
    };
    expect(await inManifest(first)).toMatchObject({ code: MALFORMED });
    expect(await inManifest(last)).toMatchObject({ code: MALFORMED });
  });

  it('has proofs of its own chunks', async () => {
    const backup = forFaults();
    const data = fileOf(backup, 'state_epoch_1', '/100-.chunk');
    const manifest = fileOf(backup, 'state_epoch_1', '.manifest');
    changeJson<StateManifest>(backup, manifest, ({ chunks }) => {
      chunks[1]!.proof = chunks[0]!.proof;
    });
    expect(await refusal(backup)).toEqual({ code: UNPROVED, file: data });
    const withProof = (edit: Edit) => refusalWith('state_epoch_1', '100-199.proof', edit);
    expect(await withProof(flip(5))).toMatchObject({ code: UNPROVED });
    expect(await withProof((bytes) => bytes.subarray(0, -1))).toMatchObject({ code: MALFORMED });
    const longer: Edit = (bytes) => {
      const more = Buffer.concat([bytes, Buffer.alloc(32)]);
      more[0]! += 1;
      return more;
    };
    expect(await withProof(longer)).toMatchObject({ code: UNPROVED });
    const surplus: Edit = (bytes) => Buffer.concat([bytes, Buffer.of(0)]);
    expect(await withProof(surplus)).toMatchObject({ code: MALFORMED, isThere: true });
  });

  it('has the root that the validators have signed', async () => {
    const otherRoot = (manifest: StateManifest) => {
      manifest.root_hash = 'ab'.repeat(32);
    };
    expect(await inManifest(otherRoot)).toMatchObject({ code: UNPROVED, isThere: true });
    const withProof = (edit: Edit) => refusalWith('state_epoch_1', 'state.proof', edit);
    // The sibling; then in the info: gas, state change hash, root; then in the ledger info: a key, the time.
    for (const at of [3, 40, 80, 140, -200, -950]) {
      expect(await withProof(flip(at)), `byte ${at}`).toMatchObject({ isThere: true });
    }
    // The signature of a ledger info that was verified as the end of its epoch is not needed again.
    expect(await withProof(flip(-20))).toBeUndefined();
    expect(await withProof((bytes) => bytes.subarray(0, -1))).toMatchObject({ code: MALFORMED });
    const surplus: Edit = (bytes) => Buffer.concat([bytes, Buffer.of(0)]);
    expect(await withProof(surplus)).toMatchObject({ code: MALFORMED });
  });

  it('is that of the version and the epoch which the metadata name', async () => {
    const version = ({ version: _, ...rest }: StateManifest) => ({ ...rest, version: 2 });
    const backup = forFaults();
    changeJson(backup, fileOf(backup, 'state_epoch_1', '.manifest'), version);
    expect(await refusal(backup)).toMatchObject({ code: MALFORMED });
    expect(await inManifest((manifest) => manifest.epoch++)).toMatchObject({ code: MALFORMED });
  });

  it('is not that of another version, whose proof is true', async () => {
    const backup = forFaults({ snapshotEpochs: [0, 1] });
    const proof = fileOf(backup, 'state_epoch_1', 'state.proof');
    const other = fileOf(backup, 'state_epoch_0', 'state.proof');
    cpSync(join(backup.folder, other), join(backup.folder, proof));
    expect(await refusal(backup)).toEqual({ code: UNPROVED, file: proof });
    // An older state under the name of the newer one.
    const forged = forFaults({ snapshotEpochs: [0, 1] });
    const [older, newer] = ['state_epoch_0', 'state_epoch_1'].map((start) =>
      fileOf(forged, start, '.manifest'),
    );
    cpSync(join(forged.folder, older!), join(forged.folder, newer!));
    changeJson<StateManifest>(forged, newer!, (manifest) => ({
      ...manifest,
      version: 1,
      epoch: 1,
    }));
    expect(await refusal(forged)).toMatchObject({ code: UNPROVED });
  });

  it('is not proved by a later ledger info, whose time and epoch are others', async () => {
    const backup = forFaults({ isProvedByNewest: true });
    const file = fileOf(backup, 'state_epoch_1', 'state.proof');
    expect(await refusal(backup)).toEqual({ code: UNPROVED, file });
  });

  it('is of an epoch whose validators are known', async () => {
    const backup = forFaults();
    rmSync(join(backup.folder, fileOf(backup, 'metadata/state_snapshot', '')));
    expect(await refusal(backup)).toEqual({ code: INCOMPLETE, file: undefined });
  });

  it('needs all of its files', async () => {
    for (const end of ['/100-.chunk', '100-199.proof', 'state.proof', '.manifest']) {
      const backup = forFaults();
      const file = fileOf(backup, 'state_epoch_1', end);
      rmSync(join(backup.folder, file));
      expect(await refusal(backup)).toEqual({ code: INCOMPLETE, file });
    }
  });
});

describe('the transactions after a snapshot', () => {
  interface Manifest {
    first_version: number;
    last_version: number;
    chunks: {
      first_version: number;
      last_version: number;
      transactions: string;
      proof: string;
      format?: string;
    }[];
  }
  // Backups of 0, 1 to 60 and 61 to 101; chunks of 30.
  const inManifest = (edit: (manifest: Manifest) => unknown, start = 'transaction_1-') =>
    refusalWith(start, '.manifest', asJson(edit));
  const inChunk = (edit: Edit, shape?: Partial<BackupShape>) =>
    refusalWith('transaction_1-', '/31-.chunk', edit, shape);
  const inProof = (edit: Edit) => refusalWith('transaction_1-', '/31-60.proof', edit);

  it('have records in which every byte is covered', async () => {
    const backup = forFaults();
    const file = fileOf(backup, 'transaction_1-', '/31-.chunk');
    let records: Buffer[] = [];
    change(backup, file, (bytes) => {
      records = recordsIn(bytes);
      return bytes;
    });
    const length = records.reduce((sum, record) => sum + record.length + 4, 0);
    for (let at = 7; at < length; at += STRIDE_BYTES) {
      expect(await inChunk(flip(at)), `byte ${at} of ${length}`).toBeDefined();
    }
  });

  it('have as many records as the manifest says, in order', async () => {
    for (const edit of [
      edited((records) => records.slice(0, -1)),
      edited((records) => [...records, records[0]!]),
      edited(([, ...rest]) => rest),
    ]) {
      expect(await inChunk(edit)).toMatchObject({ code: MALFORMED, isThere: true });
    }
    expect(await inChunk(edited(([a, b, ...rest]) => [b!, a!, ...rest]))).toMatchObject({
      code: UNPROVED,
    });
    expect(await inChunk(edited(([a, , ...rest]) => [a!, a!, ...rest]))).toMatchObject({
      code: UNPROVED,
    });
  });

  it('have auxiliary infos that fit', async () => {
    // Infos with these hashes require the format with auxiliary infos.
    expect(await refusal(forFaults({ format: 'V0' }))).toMatchObject({ code: UNPROVED });
    const chain = withoutAuxiliaryInfos(shortChain());
    expect(await refusal(forFaults({ format: 'V0' }, chain))).toBeUndefined();
    expect(await refusal(forFaults({ format: 'V1' }, chain))).toBeUndefined();
    const backup = forFaults({ format: 'V0' }, chain);
    const name = fileOf(backup, 'transaction_1-', '.manifest');
    changeJson<Manifest>(backup, name, ({ chunks }) => {
      for (const chunk of chunks) chunk.format = 'V1';
    });
    expect(await refusal(backup)).toMatchObject({ code: MALFORMED });
    const unknown = ({ chunks }: Manifest) => {
      chunks[1]!.format = 'V2';
    };
    expect(await inManifest(unknown)).toMatchObject({ code: MALFORMED, isThere: true });
  });

  it('have proofs of their own', async () => {
    // Siblings to the left, one to the right, then in the ledger info: version, time, signature.
    for (const at of [3, 100, 172, -150, -140, -20]) {
      expect(await inProof(flip(at)), `byte ${at}`).toBeDefined();
    }
    expect(await inProof((bytes) => bytes.subarray(0, -1))).toMatchObject({ code: MALFORMED });
    const surplus: Edit = (bytes) => Buffer.concat([bytes, Buffer.of(0)]);
    expect(await inProof(surplus)).toMatchObject({ code: MALFORMED, isThere: true });
    const backup = forFaults();
    changeJson<Manifest>(backup, fileOf(backup, 'transaction_1-', '.manifest'), ({ chunks }) => {
      chunks[1]!.proof = chunks[0]!.proof;
    });
    expect(await refusal(backup)).toMatchObject({ code: UNPROVED });
  });

  it('have chunks without a gap', async () => {
    for (const edit of [
      ({ chunks }: Manifest) => chunks.shift(),
      ({ chunks }: Manifest) => chunks.pop(),
      ({ chunks }: Manifest) => chunks.reverse(),
      ({ chunks }: Manifest) => chunks.splice(1, 0, chunks[1]!),
    ]) {
      expect(await inManifest(edit)).toMatchObject({ code: MALFORMED, isThere: true });
    }
    const swap = ({ chunks }: Manifest) => {
      const [first, second] = [chunks[0]!, chunks[1]!];
      [first.transactions, second.transactions] = [second.transactions, first.transactions];
      [first.proof, second.proof] = [second.proof, first.proof];
    };
    expect(await inManifest(swap)).toMatchObject({ code: UNPROVED });
  });

  it('are in backups without a gap', async () => {
    const without = async (start: string) => {
      const backup = forFaults();
      rmSync(join(backup.folder, fileOf(backup, start, '.meta')));
      return await refusal(backup);
    };
    expect(await without('metadata/transaction_1-')).toMatchObject({ code: INCOMPLETE });
    // Nothing before the snapshot is needed, and the ledger may end earlier.
    expect(await without('metadata/transaction_0-')).toBeUndefined();
    expect(await without('metadata/transaction_61-')).toBeUndefined();
  });

  it('are signed by the validators of their epoch', async () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const signedBy = (signers: readonly number[]) =>
      forFaults({ signers: (epoch) => (epoch === 0 ? [] : epoch === 1 ? all : signers) });
    expect(await refusal(signedBy(all))).toBeUndefined();
    const few = signedBy([0, 1, 2, 3]);
    const file = fileOf(few, 'transaction_1-', '/1-30.proof');
    expect(await refusal(few)).toEqual({ code: UNPROVED, file });
  });

  it('are not proved by a ledger info of an older epoch, or of other versions', async () => {
    const swapped = async (backup: WrittenBackup, from: string, to: string) => {
      const file = fileOf(backup, 'transaction_1-', to);
      const source = fileOf(backup, 'transaction_', from);
      cpSync(join(backup.folder, source), join(backup.folder, file));
      return { found: await refusal(backup), file };
    };
    const older = await swapped(forFaults(), '/0-0.proof', '/31-60.proof');
    expect(older.found).toEqual({ code: UNPROVED, file: older.file });
    // A ledger info of an epoch whose validators the backup does not name: that alone would only end the ledger.
    const later = await swapped(withoutLastEpoch(), '/31-60.proof', '/1-30.proof');
    expect(later.found).toEqual({ code: UNPROVED, file: later.file });
  });

  it('follow what the snapshot has before them', async () => {
    // Another history signed by the same validators.
    const [backup, other] = [forFaults(), forFaults({}, withoutAuxiliaryInfos(shortChain()))];
    for (const file of other.files.filter((name) => name.startsWith('transaction_'))) {
      cpSync(join(other.folder, file), join(backup.folder, file));
    }
    const file = fileOf(backup, 'transaction_1-', '/1-.chunk');
    expect(await refusal(other)).toBeUndefined();
    expect(await refusal(backup)).toEqual({ code: UNPROVED, file });
  });

  it('end where the ends of epochs do', async () => {
    expect(await refusal(withoutLastEpoch())).toBeUndefined();
  });

  /** Nothing names the validators of epoch 2; the snapshot is of epoch 1, whose validators epoch 0 names. */
  function withoutLastEpoch(): WrittenBackup {
    const backup = forFaults({ epochsPerBackup: 1 });
    for (const name of backup.files.filter((file) =>
      /^metadata.*(ending_1-|compacted)/.test(file),
    )) {
      rmSync(join(backup.folder, name));
    }
    return backup;
  }
});
