/**
 * The history of a balance, sampled by requests at chosen versions: first at regular distances, then where neighbours
 * differ most. The number of requests is bounded, and nothing is claimed between two samples.
 */

/** Outcome of one request. */
export type SampleOutcome =
  | { readonly kind: 'balance'; readonly balance: bigint }
  | {
      readonly kind: 'refused';
      /** HTTP status; 0 without a response. */
      readonly status: number;
      readonly code: string;
      readonly message: string;
    };

export interface Sample {
  readonly version: bigint;
  readonly outcome: SampleOutcome;
}

/** A range of versions, both ends included. */
export interface VersionRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Maximum number of requests for one chart. */
export const MAX_SAMPLES = 64;
/** Requests at regular distances, before others are placed where the balance changed. */
export const EVEN_SAMPLES = 24;
/** Concurrent requests. */
export const SAMPLES_AT_ONCE = 4;

/** Requests one version; rejects only when the history is no longer needed. */
export type ReadSample = (version: bigint) => Promise<SampleOutcome>;

/** Up to `count` (2 or more) distinct versions at regular distances, ascending, both ends included. */
export function evenVersions(range: VersionRange, count: number): bigint[] {
  const width = range.to - range.from;
  if (width < BigInt(count)) {
    return Array.from({ length: Number(width) + 1 }, (_, at) => range.from + BigInt(at));
  }
  const last = BigInt(count - 1);
  return Array.from({ length: count }, (_, at) => range.from + (width * BigInt(at)) / last);
}

/**
 * The next versions to request: the middles of the gaps that hide most, at most `count`. A gap whose ends differ in
 * kind (an edge of pruned history) comes first, then the largest change of balance. Gaps with equal ends or without a
 * version inside are skipped.
 */
export function refiningVersions(samples: readonly Sample[], count: number): bigint[] {
  const gaps: { readonly middle: bigint; readonly weight: bigint; readonly width: bigint }[] = [];
  for (let at = 1; at < samples.length; at += 1) {
    const [before, after] = [samples[at - 1]!, samples[at]!];
    const width = after.version - before.version;
    const weight = hiddenChange(before.outcome, after.outcome);
    if (width < 2n || weight === 0n) continue;
    gaps.push({ middle: before.version + width / 2n, weight, width });
  }
  gaps.sort((a, b) => compare(b.weight, a.weight) || compare(b.width, a.width));
  return gaps.slice(0, count).map((gap) => gap.middle);
}

/** Larger than any change of a balance. */
const EDGE_WEIGHT = 1n << 64n;

function hiddenChange(before: SampleOutcome, after: SampleOutcome): bigint {
  if (before.kind !== after.kind) return EDGE_WEIGHT;
  if (before.kind === 'refused' || after.kind === 'refused') return 0n;
  const change = after.balance - before.balance;
  return change < 0n ? -change : change;
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Samples a range with at most MAX_SAMPLES requests, SAMPLES_AT_ONCE at a time. After each round it calls `onProgress`
 * with all samples so far, ascending. Rejects as `read` does.
 */
export async function sampleHistory(
  range: VersionRange,
  read: ReadSample,
  onProgress: (samples: readonly Sample[]) => void,
): Promise<readonly Sample[]> {
  const samples = new Map<bigint, Sample>();
  const inOrder = (): Sample[] =>
    [...samples.values()].sort((a, b) => compare(a.version, b.version));
  const ask = async (versions: readonly bigint[]): Promise<void> => {
    for (let at = 0; at < versions.length; at += SAMPLES_AT_ONCE) {
      const round = versions.slice(at, at + SAMPLES_AT_ONCE);
      const answers = await Promise.all(
        round.map(async (version) => ({ version, outcome: await read(version) })),
      );
      for (const sample of answers) samples.set(sample.version, sample);
      onProgress(inOrder());
    }
  };
  await ask(evenVersions(range, EVEN_SAMPLES));
  for (;;) {
    const room = Math.min(SAMPLES_AT_ONCE, MAX_SAMPLES - samples.size);
    const versions = refiningVersions(inOrder(), room);
    if (versions.length === 0) return inOrder();
    await ask(versions);
  }
}
