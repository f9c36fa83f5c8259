/**
 * The files of a snapshot: in a folder, or one after the other in a tar file, the manifest last. The tar file is the
 * plain one of POSIX (ustar) and is read by position, so that it need not be unpacked.
 */
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { SnapshotSource } from './load-snapshot.ts';
import { type ChunkEntry, MANIFEST_NAME, MAX_MANIFEST_BYTES } from './manifest.ts';
import { SnapshotError } from './snapshot-error.ts';

const BLOCK_BYTES = 512;
/** Bytes of zeros with which a tar file ends. */
const END_BYTES = 2 * BLOCK_BYTES;
const CHECKSUM_AT = 148;

/** Opens a snapshot in a folder or a file. @throws SnapshotError `damaged`; errors of the file system */
export async function openSnapshotFiles(path: string): Promise<SnapshotSource> {
  return statSync(path).isDirectory() ? new FolderSource(path) : await TarSource.open(path);
}

class FolderSource implements SnapshotSource {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async manifest(): Promise<Buffer> {
    return await this.#read(MANIFEST_NAME, MAX_MANIFEST_BYTES);
  }

  async chunk({ name, bytes }: ChunkEntry): Promise<Uint8Array> {
    return await this.#read(name, bytes);
  }

  async close(): Promise<void> {}

  /** @param most bytes: a larger file is not read */
  async #read(name: string, most: number): Promise<Buffer> {
    const path = join(this.#folder, name);
    if (!existsSync(path)) throw damaged(`it has no ${name}`);
    if (statSync(path).size > most) throw damaged(`${name} is longer than it should be`);
    return await readFile(path);
  }
}

/** Where a file is in a tar file. */
interface TarMember {
  readonly offset: number;
  readonly bytes: number;
}

class TarSource implements SnapshotSource {
  readonly #file: FileHandle;
  readonly #members: ReadonlyMap<string, TarMember>;

  private constructor(file: FileHandle, members: ReadonlyMap<string, TarMember>) {
    this.#file = file;
    this.#members = members;
  }

  static async open(path: string): Promise<TarSource> {
    const file = await open(path, 'r');
    try {
      return new TarSource(file, await membersOf(file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async manifest(): Promise<Buffer> {
    return await this.#read(MANIFEST_NAME, MAX_MANIFEST_BYTES);
  }

  async chunk({ name, bytes }: ChunkEntry): Promise<Uint8Array> {
    return await this.#read(name, bytes);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #read(name: string, most: number): Promise<Buffer> {
    const member = this.#members.get(name);
    if (member === undefined) throw damaged(`it has no ${name}`);
    if (member.bytes > most) throw damaged(`${name} is longer than it should be`);
    return await readAt(this.#file, member.offset, member.bytes);
  }
}

/** Finds the files in a tar file that `packSnapshot` wrote: every byte outside of them is checked. */
async function membersOf(file: FileHandle): Promise<ReadonlyMap<string, TarMember>> {
  const { size } = await file.stat();
  const members = new Map<string, TarMember>();
  let offset = 0;
  while (offset < size - END_BYTES) {
    const header = await readAt(file, offset, BLOCK_BYTES);
    const name = /^[\w.-]+/.exec(header.toString('latin1', 0, 100))?.[0] ?? '';
    const bytes = Number.parseInt(header.toString('latin1', 124, 135), 8);
    if (!header.equals(tarHeader(name, bytes)) || members.has(name)) {
      throw damaged(`no file begins at byte ${offset}`);
    }
    const start = offset + BLOCK_BYTES;
    const end = start + bytes;
    offset = start + paddedBytes(bytes);
    members.set(name, { offset: start, bytes });
    await checkZeros(file, end, Math.min(offset, size));
  }
  if (offset !== size - END_BYTES) throw damaged('it is cut short');
  await checkZeros(file, offset, size);
  return members;
}

async function checkZeros(file: FileHandle, from: number, to: number): Promise<void> {
  const bytes = await readAt(file, from, Math.max(0, to - from));
  if (!bytes.equals(Buffer.alloc(bytes.length))) throw damaged(`byte ${from} should be zero`);
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(bytes, read, length - read, offset + read);
    if (bytesRead === 0) throw damaged('it is cut short');
    read += bytesRead;
  }
  return bytes;
}

/** Packs the files of a snapshot's folder into a tar file; resolves when it is on disk. */
export async function packSnapshot(folder: string, path: string): Promise<void> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.zst'));
  const file = await open(path, 'w');
  try {
    for (const name of [...names.sort(), MANIFEST_NAME]) {
      const member = join(folder, name);
      const { size } = statSync(member);
      await file.write(tarHeader(name, size));
      await pipeline(createReadStream(member), async (pieces) => {
        for await (const piece of pieces) await file.write(piece as Buffer);
      });
      await file.write(Buffer.alloc(paddedBytes(size) - size));
    }
    await file.write(Buffer.alloc(END_BYTES));
    await file.sync();
  } finally {
    await file.close();
  }
}

function paddedBytes(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** The one header that a file of a name and size has here. */
function tarHeader(name: string, bytes: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  header.write(name, 0, 'latin1');
  header.write('0000644', 100, 'latin1');
  header.write('0000000', 108, 'latin1');
  header.write('0000000', 116, 'latin1');
  header.write(octal(Number.isSafeInteger(bytes) ? bytes : 0, 11), 124, 'latin1');
  header.write(octal(0, 11), 136, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  header.fill(' ', CHECKSUM_AT, CHECKSUM_AT + 8);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, CHECKSUM_AT, 'latin1');
  return header;
}

function damaged(detail: string): SnapshotError {
  return new SnapshotError('damaged', `the snapshot is damaged: ${detail}`);
}
