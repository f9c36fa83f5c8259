/** The writes of a process to some files, in order, as strace records them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** An operation on one of the files, which is given by its index. */
export type FileEvent =
  | { readonly kind: 'write'; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: number; readonly length: number }
  | { readonly kind: 'sync'; readonly file: number };

export type WriteEvent = FileEvent | { readonly kind: 'acknowledged'; readonly version: bigint };

/** Whether writes can be recorded on this machine. */
export function canRecord(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Runs a command and returns its operations on `files`, and the versions that it wrote to `acknowledged`. */
export function recordWrites(
  command: readonly string[],
  files: readonly string[],
  acknowledged: string,
  trace: string,
): WriteEvent[] {
  const calls = 'trace=lseek,write,writev,pwrite64,pwritev,fdatasync,fsync,msync,ftruncate,unlink';
  const paths = [...files, acknowledged].flatMap((path) => ['-P', path]);
  const args = ['-f', '-y', '-xx', '-s', '100000000', ...paths, '-e', calls, '-o', trace];
  execFileSync('strace', [...args, ...command], { stdio: 'ignore' });
  return eventsOf(readFileSync(trace, 'latin1'), [...files, acknowledged]);
}

const STRING = /"((?:\\x[0-9a-f]{2})*)"/g;

function bytesOf(text: string): Buffer {
  const parts = [...text.matchAll(STRING)].map(([, digits = '']) => digits.replaceAll('\\x', ''));
  return Buffer.from(parts.join(''), 'hex');
}

/** Matches `FD<PATH>` at the beginning of a call's arguments; the path is in hexadecimal digits or plain. */
function pathOf(args: string): string {
  const shown = /^\d+<([^>]*)>/.exec(args)?.[1] ?? '';
  return shown.startsWith('\\x')
    ? Buffer.from(shown.replaceAll('\\x', ''), 'hex').toString()
    : shown;
}

function eventsOf(trace: string, paths: readonly string[]): WriteEvent[] {
  const events: WriteEvent[] = [];
  const positions = new Map<string, number>();
  for (const line of trace.split('\n')) {
    const [, call = '', rest = ''] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
    if (call === '') continue;
    if (rest.includes('<unfinished ...>')) throw new Error(`a call beside another: ${line}`);
    const path = pathOf(rest);
    const file = paths.indexOf(path);
    if (file === paths.length - 1 && call === 'write') {
      events.push({ kind: 'acknowledged', version: BigInt(bytesOf(rest).toString().trim()) });
    } else if (call === 'unlink') {
      const length = 0;
      events.push({ kind: 'truncate', file: paths.indexOf(bytesOf(rest).toString()), length });
    } else if (call === 'lseek') {
      positions.set(path, Number(/, (\d+), SEEK_SET/.exec(rest)?.[1]));
    } else if (call === 'fdatasync' || call === 'fsync') {
      events.push({ kind: 'sync', file });
    } else if (call === 'ftruncate') {
      events.push({ kind: 'truncate', file, length: Number(/, (\d+)\)/.exec(rest)?.[1]) });
    } else if (/^p?write(?:64)?$/.test(call) && file >= 0) {
      const given = /, (\d+)\) += \d+$/.exec(rest)?.[1];
      const at = call === 'write' ? positions.get(path)! : Number(given);
      const bytes = bytesOf(rest.slice(rest.indexOf('>')));
      positions.set(path, at + bytes.length);
      events.push({ kind: 'write', file, at, bytes });
    } else throw new Error(`a call that is not replayed: ${line.slice(0, 200)}`);
  }
  return events;
}
