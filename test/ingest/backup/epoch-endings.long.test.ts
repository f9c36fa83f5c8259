/** The chain of epochs: for every check of docs/spec/backup.md §4.2 and §4.3 there is a backup that only it refuses. */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BackupError } from '../../../src/ingest/backup/backup-error.ts';
import { readBackupIndex } from '../../../src/ingest/backup/backup-index.ts';
import {
  FolderSource,
  isGzip,
  MAX_MANIFEST_BYTES,
} from '../../../src/ingest/backup/backup-source.ts';
import { findEpochEndings, verifyEpochEndings } from '../../../src/ingest/backup/epoch-endings.ts';
import { parseWaypoint } from '../../../src/move/transactions/waypoint.ts';
import { IS_LONG } from '../../random.ts';
import { backupChain, change, changeJson, fileOf, newBackup, recordsIn } from './backup-chain.ts';
import { framed, type WrittenBackup } from './backup-writer.ts';

/** Distance between two changed bytes. */
const STRIDE_BYTES = IS_LONG ? 97 : 1_201;
const NEVER = new AbortController().signal;

/** Verifies all epochs from a waypoint on. @returns the epochs, in order */
async function verified(backup: WrittenBackup, waypoint = backup.waypoints[0]!, retainFrom = 0n) {
  const source = new FolderSource(backup.folder);
  const index = await readBackupIndex(source, NEVER);
  const endings = await findEpochEndings(source, index, parseWaypoint(waypoint), NEVER);
  const epochs: bigint[] = [];
  await verifyEpochEndings(source, endings, retainFrom, NEVER, (epoch) => epochs.push(epoch));
  return epochs.map(Number);
}

async function refusal(backup: WrittenBackup, waypoint?: string): Promise<string | undefined> {
  try {
    await verified(backup, waypoint);
    return undefined;
  } catch (error) {
    if (error instanceof BackupError) return error.code;
    throw error;
  }
}

const EPOCHS = backupChain().epochEnds.map((_, epoch) => epoch);

describe('the ends of epochs', () => {
  it('are verified from genesis on', async () => {
    expect(EPOCHS.length).toBeGreaterThan(4);
    expect(await verified(newBackup())).toEqual(EPOCHS);
    expect(await verified(newBackup({ isGzip: false, epochsPerChunk: 3 }))).toEqual(EPOCHS);
    expect(await verified(newBackup({ epochsPerBackup: 1 }))).toEqual(EPOCHS);
  });

  it('are verified from a later waypoint on', async () => {
    const backup = newBackup({ epochsPerBackup: EPOCHS.length, epochsPerChunk: 2 });
    for (const epoch of EPOCHS) {
      expect(await verified(backup, backup.waypoints[epoch])).toEqual(EPOCHS.slice(epoch));
    }
  });

  it('are refused for another waypoint', async () => {
    const backup = newBackup();
    const other = backup.waypoints[0]!.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    expect(await refusal(backup, other)).toBe('waypoint_mismatch');
    const later = backup.waypoints[2]!.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    expect(await refusal(backup, later)).toBe('waypoint_mismatch');
    expect(await refusal(backup, `999999:${'00'.repeat(32)}`)).toBe('waypoint_mismatch');
  });
});

describe('an end of an epoch', () => {
  const all = [0, 1, 2, 3, 4, 5, 6, 7, 8];

  it('needs a quorum: one signer less is too few', async () => {
    // Powers 13 to 20 and 11 in epoch 2: 145 in total, so a quorum is 97.
    const powers = backupChain()
      .validators(2)
      .map(({ power }) => Number(power));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const quorum = Math.floor((total * 2) / 3) + 1;
    const order = [...all].sort((left, right) => powers[right]! - powers[left]!);
    let power = 0;
    const fewest = order.filter((index) => {
      const isNeeded = power < quorum;
      if (isNeeded) power += powers[index]!;
      return isNeeded;
    });
    const signedBy = (signers: readonly number[]) =>
      newBackup({ signers: (epoch) => (epoch === 2 ? signers : epoch === 0 ? [] : all) });
    expect(await refusal(signedBy(fewest))).toBeUndefined();
    expect(await refusal(signedBy(fewest.slice(0, -1)))).toBe('backup_unproved');
    expect(await refusal(signedBy([]))).toBe('backup_unproved');
  });

  it('names the next epoch', async () => {
    const last = EPOCHS.length - 1;
    const naming = (other: number | null) =>
      newBackup({ nextEpochs: (epoch) => (epoch === last ? other : epoch + 1) });
    expect(await refusal(naming(last + 1))).toBeUndefined();
    expect(await refusal(naming(last + 2))).toBe('backup_malformed');
    expect(await refusal(naming(null))).toBe('backup_malformed');
  });

  it('is of its own epoch: validators of an earlier one cannot sign for it', async () => {
    const last = EPOCHS.length - 1;
    const stated = (other: number) =>
      newBackup({ statedEpochs: (epoch) => (epoch === last ? other : epoch) });
    expect(await refusal(stated(last))).toBeUndefined();
    expect(await refusal(stated(last - 1))).toBe('backup_malformed');
  });

  it('is not signed by the validators of another epoch', async () => {
    const chain = backupChain();
    // The ledger info of epoch 2 names other validators than those that sign in epoch 3.
    const validators = (epoch: number) => chain.validators(epoch === 3 ? 7 : epoch);
    const [honest, forged] = [newBackup(), newBackup({}, { ...chain, validators })];
    expect(await refusal(forged)).toBeUndefined();
    const name = fileOf(honest, 'epoch_ending_2', '3-.chunk');
    change(honest, name, () => Buffer.alloc(0));
    expect(await refusal(honest)).toBe('backup_malformed');
    let other: Buffer = Buffer.alloc(0);
    change(forged, fileOf(forged, 'epoch_ending_2', '3-.chunk'), (bytes) => {
      other = bytes;
      return bytes;
    });
    change(honest, name, () => other);
    expect(await refusal(honest)).toBe('backup_unproved');
  });

  it('is refused with any byte changed', async () => {
    const backup = newBackup({ isGzip: false, epochsPerBackup: EPOCHS.length, epochsPerChunk: 9 });
    const name = fileOf(backup, 'epoch_ending_0', '0-.chunk');
    let length = 0;
    change(backup, name, (bytes) => {
      length = bytes.length;
      return bytes;
    });
    for (let at = 0; at < length; at += STRIDE_BYTES) {
      const flip = (bytes: Buffer): Buffer => {
        bytes[at]! ^= 1 << (at % 8);
        return bytes;
      };
      change(backup, name, flip);
      expect(await refusal(backup), `byte ${at} of ${length}`).not.toBeUndefined();
      change(backup, name, flip);
    }
    expect(await refusal(backup)).toBeUndefined();
  });

  it('of genesis has nothing that the waypoint does not cover', async () => {
    const backup = newBackup({ epochsPerBackup: 1 });
    const name = fileOf(backup, 'epoch_ending_0', '0-.chunk');
    for (const at of [4 + 1 + 8, 4 + 1 + 16, -3]) {
      const flip = (bytes: Buffer): Buffer => {
        bytes[at < 0 ? bytes.length + at : at]! ^= 1;
        return bytes;
      };
      change(backup, name, flip);
      expect(await refusal(backup), `byte ${at}`).toBe('backup_unproved');
      change(backup, name, flip);
    }
    expect(await refusal(backup)).toBeUndefined();
  });
});

describe('a chunk of ends of epochs', () => {
  const shape = { epochsPerBackup: EPOCHS.length, epochsPerChunk: EPOCHS.length };
  const edited = (edit: (records: Buffer[]) => Buffer[]) => {
    const backup = newBackup(shape);
    const name = fileOf(backup, 'epoch_ending_0', '0-.chunk');
    change(backup, name, (bytes) => framed(edit(recordsIn(bytes))));
    return refusal(backup);
  };

  it('has one record for each epoch, in order', async () => {
    expect(await edited((records) => records)).toBeUndefined();
    expect(await edited((records) => records.slice(0, -1))).toBe('backup_malformed');
    expect(await edited((records) => [...records, records[0]!])).toBe('backup_malformed');
    expect(await edited(([a, b, , ...rest]) => [a!, b!, b!, ...rest])).toBe('backup_malformed');
    expect(await edited(([a, b, c, ...rest]) => [a!, c!, b!, ...rest])).toBe('backup_malformed');
    expect(await edited(([a, ...rest]) => [a!, ...rest.slice(1), rest[0]!])).toBe(
      'backup_malformed',
    );
  });

  it('ends where a record does', async () => {
    const backup = newBackup(shape);
    const name = fileOf(backup, 'epoch_ending_0', '0-.chunk');
    for (const surplus of [[0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1, 9]]) {
      change(backup, name, (bytes) => Buffer.concat([bytes, Buffer.from(surplus)]));
      expect(await refusal(backup)).toBe('backup_malformed');
      change(backup, name, (bytes) => bytes.subarray(0, bytes.length - surplus.length));
    }
    change(backup, name, (bytes) => bytes.subarray(0, bytes.length - 1));
    expect(await refusal(backup)).toBe('backup_malformed');
  });

  it('has records of which every byte belongs to the ledger info', async () => {
    const longer = ([first, ...rest]: Buffer[]) => [Buffer.concat([first!, Buffer.of(0)]), ...rest];
    expect(await edited(longer)).toBe('backup_malformed');
  });
});

describe('the manifest of ends of epochs', () => {
  interface Manifest {
    first_epoch: number;
    last_epoch: number;
    waypoints: string[];
    chunks: { first_epoch: number; last_epoch: number; ledger_infos: string }[];
  }
  const edited = (edit: (manifest: Manifest) => unknown, epochsPerChunk = 1) => {
    const backup = newBackup({ epochsPerBackup: EPOCHS.length, epochsPerChunk });
    changeJson(backup, fileOf(backup, 'epoch_ending_0', '.manifest'), edit);
    return refusal(backup);
  };

  it('has chunks without a gap, none twice, in order', async () => {
    expect(await edited(() => undefined)).toBeUndefined();
    for (const edit of [
      ({ chunks }: Manifest) => chunks.splice(1, 1),
      ({ chunks }: Manifest) => chunks.splice(1, 0, chunks[1]!),
      ({ chunks }: Manifest) => chunks.reverse(),
      ({ chunks }: Manifest) => chunks.pop(),
      ({ chunks }: Manifest) => chunks.splice(0),
    ]) {
      expect(await edited((manifest) => void edit(manifest))).toBe('backup_malformed');
    }
  });

  it('has one waypoint for each epoch, that of its ledger info', async () => {
    expect(await edited(({ waypoints }) => void waypoints.pop())).toBe('backup_malformed');
    expect(await edited(({ waypoints }) => void waypoints.push(waypoints.at(-1)!))).toBe(
      'backup_malformed',
    );
    const swap = ({ waypoints }: Manifest) => {
      [waypoints[1], waypoints[2]] = [waypoints[2]!, waypoints[1]!];
    };
    expect(await edited(swap)).toBe('backup_malformed');
    expect(await edited(({ waypoints }) => void waypoints.splice(1, 1, 'x'))).toBe(
      'backup_malformed',
    );
  });

  it('agrees with the metadata', async () => {
    const longer = (manifest: Manifest) => ({ ...manifest, last_epoch: manifest.last_epoch + 1 });
    expect(await edited(longer)).toBe('backup_malformed');
    const backup = newBackup({ epochsPerBackup: EPOCHS.length });
    for (const name of backup.files.filter((file) => file.startsWith('metadata/epoch_ending'))) {
      changeJson<{ EpochEndingBackup: { last_version: number } }>(backup, name, (line) => {
        line.EpochEndingBackup.last_version += 1;
      });
    }
    expect(await refusal(backup)).toBe('backup_malformed');
  });

  it('names files of the backup only', async () => {
    for (const handle of ['../0-.chunk', '/etc/passwd', 'a/../../b.chunk', 'abc', 'aaa/bbb/ccc']) {
      const outside = (manifest: Manifest) => {
        manifest.chunks[0]!.ledger_infos = handle;
      };
      expect(await edited(outside), handle).toBe('backup_malformed');
    }
  });

  it('is a JSON object', async () => {
    for (const text of ['', '{', '[]', 'null', '"x"', '{}']) {
      const backup = newBackup({ epochsPerBackup: EPOCHS.length });
      change(backup, fileOf(backup, 'epoch_ending_0', '.manifest'), () => Buffer.from(text));
      expect(await refusal(backup), text).toBe('backup_malformed');
    }
  });
});

describe('the metadata of ends of epochs', () => {
  const without = async (epoch: number): Promise<string | undefined> => {
    const backup = newBackup({ epochsPerBackup: 1 });
    for (const name of backup.files) {
      if (name.startsWith(`metadata/epoch_ending_${epoch}-`)) rmSync(join(backup.folder, name));
      if (epoch === 0 && name.includes('compacted')) rmSync(join(backup.folder, name));
    }
    return refusal(backup);
  };

  it('has no gap', async () => {
    expect(await without(0)).toBe('backup_incomplete');
    expect(await without(1)).toBe('backup_incomplete');
    expect(await without(3)).toBe('backup_incomplete');
    // The newest may be missing, which makes the chain shorter.
    expect(await without(EPOCHS.length - 1)).toBeUndefined();
  });

  it('is in a folder of its own', async () => {
    const backup = newBackup();
    rmSync(join(backup.folder, 'metadata'), { recursive: true });
    expect(await refusal(backup)).toBe('backup_incomplete');
  });

  it('is read up to a number of files', async () => {
    const source = new FolderSource(newBackup({ epochsPerBackup: 1 }).folder);
    const { length } = await source.metadataFiles();
    await readBackupIndex(source, NEVER, { maxFiles: length + 1 });
    await readBackupIndex(source, NEVER, { maxFiles: length });
    const tooMany = readBackupIndex(source, NEVER, { maxFiles: length - 1 });
    await expect(tooMany).rejects.toMatchObject({ code: 'backup_malformed' });
  });

  it('is read up to a number of lines in all files, and of bytes in each', async () => {
    const { folder } = newBackup({ epochsPerBackup: 1 });
    const source = new FolderSource(folder);
    const files = await source.metadataFiles();
    const stored = files.map((file) => readFileSync(join(folder, file)));
    const plain = stored.map((bytes) => (isGzip(bytes) ? gunzipSync(bytes) : bytes));
    const lines = plain.reduce((sum, bytes) => sum + bytes.toString().split('\n').length - 1, 0);
    const maxBytes = Math.max(...[...stored, ...plain].map(({ length }) => length));
    for (const more of [1, 0]) {
      await readBackupIndex(source, NEVER, { maxLines: lines + more });
      await readBackupIndex(source, NEVER, { maxFileBytes: maxBytes + more });
    }
    for (const limits of [{ maxLines: lines - 1 }, { maxFileBytes: maxBytes - 1 }]) {
      const refused = readBackupIndex(source, NEVER, limits);
      await expect(refused).rejects.toMatchObject({ code: 'backup_malformed' });
    }
  });

  it('has manifests up to a size', async () => {
    const manifestOf = (length: number) => {
      const backup = newBackup();
      const name = fileOf(backup, 'epoch_ending_0', '.manifest');
      change(backup, name, (bytes) =>
        Buffer.concat([bytes, Buffer.alloc(length - bytes.length, ' ')]),
      );
      return backup;
    };
    expect(await refusal(manifestOf(MAX_MANIFEST_BYTES - 1))).toBeUndefined();
    expect(await refusal(manifestOf(MAX_MANIFEST_BYTES))).toBeUndefined();
    expect(await refusal(manifestOf(MAX_MANIFEST_BYTES + 1))).toBe('backup_malformed');
  });

  it('may have overlapping backups, and lines twice', async () => {
    const [whole, single] = [newBackup({ epochsPerBackup: EPOCHS.length }), newBackup()];
    const line = single.files.find((name) => name.startsWith('metadata/epoch_ending_2-'))!;
    const chunkFolder = single.files.find((name) => name.startsWith('epoch_ending_2-'))!;
    expect(chunkFolder).toBeDefined();
    cpSync(join(single.folder, line), join(whole.folder, line));
    const folder = chunkFolder.split('/')[0]!;
    cpSync(join(single.folder, folder), join(whole.folder, folder), { recursive: true });
    expect(await verified(whole)).toEqual(EPOCHS);
  });
});
