/**
 * Names a process so that a later one can tell whether it still lives. The system uses a process id again; with the
 * start time it is unique until the next boot.
 */
import { readFileSync } from 'node:fs';
import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';

/** A process of this machine. The texts are empty where the system does not give them. */
interface ProcessIdentity {
  readonly pid: number;
  /** Differs after every boot. */
  readonly bootId: string;
  /** When the process started, in the kernel's ticks since boot. */
  readonly startTicks: string;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, bootId: bootId(), startTicks: statusOf(process.pid).startTicks };
}

export function encodeProcessIdentity(identity: ProcessIdentity): Buffer {
  return encodeBcs((writer) =>
    writer.u32(identity.pid).string(identity.bootId).string(identity.startTicks),
  );
}

/** @throws BcsError */
export function decodeProcessIdentity(bytes: Uint8Array): ProcessIdentity {
  const reader = new BcsReader(bytes);
  const pid = reader.u32();
  const identity = { pid, bootId: reader.string(), startTicks: reader.string() };
  reader.finish();
  return identity;
}

/** Whether a process still runs. If unknown, the answer is yes. */
export function isRunning(identity: ProcessIdentity): boolean {
  const boot = bootId();
  if (boot !== '' && identity.bootId !== '' && boot !== identity.bootId) return false;
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // EPERM: it runs, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const { state, startTicks: started } = statusOf(identity.pid);
  // A process that was killed stays in the table until its parent has collected it; it never writes again.
  if (DEAD_STATES.includes(state)) return false;
  return started === '' || identity.startTicks === '' || started === identity.startTicks;
}

function bootId(): string {
  return readSystemFile('/proc/sys/kernel/random/boot_id').trim();
}

const DEAD_STATES: readonly string[] = ['Z', 'X', 'x'];

/** Fields 3 and 22 of the process's stat file; the name before them may contain spaces and parentheses. */
function statusOf(pid: number): { readonly state: string; readonly startTicks: string } {
  const stat = readSystemFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTicks: fields[19] ?? '' };
}

function readSystemFile(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
