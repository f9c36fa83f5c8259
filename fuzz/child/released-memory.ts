/** Connections to SQLite that were closed keep their files open until the collector has run: here it runs now and then. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Inputs between two runs. */
const INPUTS = 32;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
let inputs = 0;

export async function releaseMemory(): Promise<void> {
  inputs += 1;
  if (inputs % INPUTS > 0) return;
  collect();
  await nextTurn();
}
