// Figures of repeated runs: min, median, max; and the ratio of two things measured in turns.

/** @param {number[]} values @returns {{min: number, median: number, max: number, runs: number}} */
export function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median =
    sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { min: sorted[0], median, max: sorted.at(-1), runs: sorted.length };
}

/** Ratio of each round's pair, then its summary: noise that hits both sides of a round cancels out. */
export function ratioSummary(subject, reference) {
  return summary(subject.map((value, round) => value / reference[round]));
}

/** Rounds for people: 58,612 and 0.913. */
export function shown(value) {
  return value >= 100
    ? Math.round(value).toLocaleString('en-US')
    : Number(value.toPrecision(3)).toString();
}

export function shownSummary({ min, median, max }) {
  return `${shown(min)} / ${shown(median)} / ${shown(max)}`;
}
