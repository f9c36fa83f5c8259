/**
 * Temporary folders in memory, whose writes never wait for a disk: targets test what was written, not what a disk
 * persists.
 */
import { accessSync, constants, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';

export function memoryFolder(prefix: string): string {
  return mkdtempSync(join(hasMemory() ? IN_MEMORY : tmpdir(), prefix));
}

function hasMemory(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
