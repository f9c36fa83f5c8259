/** The axis of balances. */

/** The axis begins at zero unless the lowest balance is above this share of the highest. */
const MIN_ZOOMED_PERCENT = 80n;
const MAX_TICKS = 5n;

/** The smallest of 1, 2, 5, 10, 20, … that divides `width` into at most MAX_TICKS. */
function tickStep(width: bigint): bigint {
  for (let power = 1n; ; power *= 10n) {
    const step = [power, 2n * power, 5n * power].find((one) => one * MAX_TICKS >= width);
    if (step !== undefined) return step;
  }
}

/** Ticks of the axis, ascending. The axis begins at the first and ends at the last. */
export function balanceTicks(lowest: bigint, highest: bigint): bigint[] {
  const fromZero = lowest * 100n < highest * MIN_ZOOMED_PERCENT || lowest === highest;
  const bottom = fromZero ? 0n : lowest;
  const step = tickStep(highest - bottom);
  const ticks = [(bottom / step) * step];
  while (ticks.at(-1)! < highest || ticks.length < 2) ticks.push(ticks.at(-1)! + step);
  return ticks;
}
