// Starts one of our servers as a child process and waits for its line of JSON.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** bin/daybook sets this when it starts itself. */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '1' };

/** @returns {Promise<{ready: any, pid: number, readyMs: number, stop: () => Promise<void>}>} */
export async function startChild(args, environment = {}) {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...ALLOCATOR, ...process.env, NODE_ENV: 'production', ...environment },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout });
  const ready = await new Promise((resolve, reject) => {
    lines.once('line', (line) => resolve(JSON.parse(line)));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}`)));
  });
  return {
    ready,
    pid: child.pid,
    readyMs: performance.now() - started,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Clock ticks per second in /proc; the same on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** Processor time that a process has used, in seconds; NaN without /proc. */
export function cpuSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
