/** Computing with curves takes milliseconds: others get their turn in between. */
import type { NativeContext } from '../../native.ts';

/** Time between two turns, in milliseconds. */
const SLICE_MS = 5;

class LastTurn {
  atMs: number | undefined;
}

/** To be awaited before each operation that takes long. */
export type GiveWay = () => Promise<void>;

export async function giveWay({ extensions, world }: NativeContext): Promise<void> {
  const last = extensions.of(LastTurn);
  if (last.atMs !== undefined && performance.now() - last.atMs < SLICE_MS) return;
  if (last.atMs !== undefined) await world.nextTurn();
  last.atMs = performance.now();
}

export function turnsOf(context: NativeContext): GiveWay {
  return () => giveWay(context);
}
