// Figures of a process and its children from the system (Linux): processor time, and memory other than mapped files.
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second in /proc: 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

function statFields(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** @returns {number[]} process ids of the children of a process */
export function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(statFields(pid)?.[1]) === parent);
}

/** Processor time of a process so far, in milliseconds; 0 when it is gone. */
export function cpuMs(pid) {
  const fields = statFields(pid);
  if (fields === undefined) return 0;
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
}

/** Processor time of a process's ended children, in milliseconds. */
export function cpuMsOfEnded(pid) {
  const fields = statFields(pid);
  return ((Number(fields[13]) + Number(fields[14])) * 1_000) / TICKS_PER_SECOND;
}

/**
 * Memory of a process, in bytes: its own (RssAnon), and resident mapped files (RssFile), which are the program, and the
 * page cache as far as the process has read the store through it.
 */
export function memoryBytes(pid) {
  const status = read(`/proc/${pid}/status`) ?? '';
  const [anonymous, files] = ['RssAnon', 'RssFile'].map(
    (name) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0),
  );
  return { anonymous, files };
}

/** Memory of a process other than mapped files (RssAnon), in bytes. */
export function anonymousBytes(pid) {
  return memoryBytes(pid).anonymous;
}

/** The heap that `malloc` grows with brk (`[heap]`), in bytes. Takes the system some ten milliseconds. */
export function mallocHeapBytes(pid) {
  const heap = /\[heap\]\n(?:\w+:.*\n)*?Anonymous:\s+(\d+) kB$/m.exec(
    read(`/proc/${pid}/smaps`) ?? '',
  );
  return 1024 * Number(heap?.[1] ?? 0);
}

/** Memory of a process with its share of shared memory (Pss), in bytes; mapped files count. */
export function proportionalBytes(pid) {
  const rollup = read(`/proc/${pid}/smaps_rollup`) ?? '';
  return 1024 * Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0);
}

/** A process and its children. @returns {number[]} */
export function withChildren(pid) {
  return [pid, ...childrenOf(pid)];
}

/** Processor time of some processes so far, in milliseconds. */
export function cpuMsOfAll(pids) {
  return pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
}
