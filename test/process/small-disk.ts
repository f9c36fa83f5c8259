/** File systems of a given size, for tests of full disks. Root only. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether file systems can be mounted; not every container allows it. */
export const canMount = process.getuid?.() === 0 && process.platform === 'linux' && mayMount();

function mayMount(): boolean {
  const at = mkdtempSync(join(tmpdir(), 'daybook-mount-probe-'));
  try {
    mount(at, '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs');
    execFileSync('umount', [at], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
}

function mount(at: string, ...options: string[]): void {
  execFileSync('mount', [...options, at], { stdio: 'ignore' });
}

/** A file system of its own, mounted at a folder. */
export class SmallDisk {
  readonly folder: string;

  /** @param size in the format of mount: `24m` */
  constructor(folder: string, size: string) {
    mkdirSync(folder);
    mount(folder, '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs');
    this.folder = folder;
  }

  resize(size: string): void {
    mount(this.folder, '-o', `remount,size=${size}`);
  }

  /** Shrinks it to the size of its contents. */
  fill(): void {
    const { blocks, bfree, bsize } = statfsSync(this.folder);
    this.resize(`${((blocks - bfree) * bsize) / 1024}k`);
  }

  /** Unmounts it, even while processes are still exiting. */
  unmount(): void {
    execFileSync('umount', ['-l', this.folder], { stdio: 'ignore' });
  }
}
