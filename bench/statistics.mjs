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

/** Rounds for readers: 58,612 and 0.913. */
export function shown(value) {
  return value >= 100
    ? Math.round(value).toLocaleString('en-US')
    : Number(value.toPrecision(3)).toString();
}

export function shownSummary({ min, median, max }) {
  return `${shown(min)} / ${shown(median)} / ${shown(max)}`;
}

/** Least-squares line through points [x, y]: its slope, and the slope's standard error. */
export function leastSquares(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [0, 1].map((axis) => mean(points.map((point) => point[axis])));
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const residue = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, standardError: Math.sqrt(residue / (points.length - 2) / spread) };
}
