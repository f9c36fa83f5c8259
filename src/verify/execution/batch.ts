/** Some versions of a ledger that are run again one after the other, and their outcome. */
import type { Difference, Replay } from './replay.ts';

/** Versions that are run between two progress reports. */
const VERSIONS_PER_TICK = 25;

export interface VersionRange {
  readonly first: bigint;
  readonly last: bigint;
}

export interface BatchResult extends VersionRange {
  readonly differences: readonly Difference[];
  readonly unverified: number;
}

/** Rejects with StoreError. @param onVersions gets how many more versions were run */
export async function runBatch(
  replay: Replay,
  { first, last }: VersionRange,
  onVersions: (versions: number) => void,
): Promise<BatchResult> {
  const differences: Difference[] = [];
  const unverifiedBefore = replay.unverified;
  let reportedBelow = first;
  for (let version = first; version <= last; version += 1n) {
    const difference = await replay.run(version);
    if (difference !== undefined) differences.push(difference);
    const versionCount = Number(version + 1n - reportedBelow);
    if (versionCount < VERSIONS_PER_TICK && version < last) continue;
    reportedBelow = version + 1n;
    onVersions(versionCount);
  }
  return { first, last, differences, unverified: replay.unverified - unverifiedBefore };
}
