/**
 * Closed connections to SQLite keep their files open until they are garbage collected, so this runs the collector now
 * and then.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Inputs between two garbage collections. */
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
