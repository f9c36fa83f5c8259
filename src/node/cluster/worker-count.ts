/** How many processes of a node answer. */
import { availableParallelism } from 'node:os';
import type { NodeSettings } from '../settings/settings.ts';

/** How many processes answer by the setting `workers`. */
export function workerCount({ workers }: Pick<NodeSettings, 'workers'>): number {
  return workers === 0 ? availableParallelism() : workers;
}
