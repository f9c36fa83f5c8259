/** Computing with curves takes milliseconds: others get their turn in between. */
import type { NativeContext } from '../../native.ts';

/** Time between two turns, in milliseconds. */
const SLICE_MS = 5;

const LAST_TURN = Symbol('last turn');

/** To be awaited before each operation that takes long. */
export type GiveWay = () => Promise<void>;

export async function giveWay({ extensions, world }: NativeContext): Promise<void> {
  const last = extensions.get(LAST_TURN) as number | undefined;
  if (last !== undefined && performance.now() - last < SLICE_MS) return;
  if (last !== undefined) await world.nextTurn();
  extensions.set(LAST_TURN, performance.now());
}

export function turnsOf(context: NativeContext): GiveWay {
  return () => giveWay(context);
}
