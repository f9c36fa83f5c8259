/** The writes of a process to a file, in order, as strace records them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export type WriteEvent =
  | {
      readonly kind: 'write';
      readonly at: number;
      readonly bytes: Buffer;
      readonly isSynced: boolean;
    }
  | { readonly kind: 'sync' }
  | { readonly kind: 'acknowledged'; readonly version: bigint };

/** Whether writes can be recorded here. */
export function canRecord(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Runs a command and gives its writes to `data`, and the versions that it wrote to `acknowledged`. */
export function recordWrites(
  command: readonly string[],
  data: string,
  acknowledged: string,
  trace: string,
): WriteEvent[] {
  const calls = 'trace=openat,lseek,write,writev,pwrite64,fdatasync,fsync,msync,ftruncate';
  const args = ['-f', '-xx', '-s', '100000000', '-P', data, '-P', acknowledged, '-e', calls];
  execFileSync('strace', [...args, '-o', trace, ...command], { stdio: 'ignore' });
  return eventsOf(readFileSync(trace, 'latin1'));
}

const STRING = /"((?:\\x[0-9a-f]{2})*)"/g;

function bytesOf(text: string): Buffer {
  const parts = [...text.matchAll(STRING)].map(([, digits = '']) => digits.replaceAll('\\x', ''));
  return Buffer.from(parts.join(''), 'hex');
}

function eventsOf(trace: string): WriteEvent[] {
  const events: WriteEvent[] = [];
  const synced = new Set<string>();
  const positions = new Map<string, number>();
  for (const line of trace.split('\n')) {
    const [, call = '', rest = ''] =
      /^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed>)(.*)$/.exec(line) ?? [];
    const isResumed = line.includes(' resumed>');
    const isBegun = line.endsWith('<unfinished ...>');
    const file = /^\d+/.exec(rest)?.[0] ?? '';
    if (call === 'openat') {
      if (rest.includes('O_DSYNC')) synced.add(/= (\d+)/.exec(rest)?.[1] ?? '');
    } else if (call === 'fdatasync' || call === 'fsync') {
      // It counts from when it has returned.
      if (!isBegun) events.push({ kind: 'sync' });
    } else if (call === 'write' && !isResumed) {
      events.push({ kind: 'acknowledged', version: BigInt(bytesOf(rest).toString().trim()) });
    } else if (call === 'lseek' && !isResumed) {
      positions.set(file, Number(/, (\d+), SEEK_SET/.exec(rest)?.[1]));
    } else if (/^p?writev?(?:64)?$/.test(call) && !isResumed) {
      const given = /, (\d+)(?:\)| <)[^"]*$/.exec(rest)?.[1];
      const at = call === 'writev' ? positions.get(file)! : Number(given);
      const bytes = bytesOf(rest);
      positions.set(file, at + bytes.length);
      events.push({ kind: 'write', at, bytes, isSynced: synced.has(file) });
    } else if (call !== '') {
      throw new Error(`a call that is not replayed: ${line.slice(0, 200)}`);
    }
  }
  return events;
}
