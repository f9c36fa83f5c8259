/** Which streams new versions have records of: read once, so that the others need not be looked at. */
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { eventsKey } from './event-source.ts';
import { HEADS_KEY } from './head-source.ts';
import type { TimeShare } from './time-share.ts';
import { typeKey } from './typed-event-source.ts';

/** Most versions that are read for it: tens of milliseconds, in slices. */
export const MAX_TOUCHED_VERSIONS = 1_000n;

/**
 * Keys of the sources that have records of the versions above one, up to a view's; others may be among them.
 * @returns undefined if it is not known: any source may have some
 */
export async function touchedKeys(
  view: LedgerView,
  above: bigint,
  share: TimeShare,
): Promise<ReadonlySet<string> | undefined> {
  const { version } = view.state;
  if (version - above > MAX_TOUCHED_VERSIONS) return undefined;
  const keys = new Set([HEADS_KEY]);
  let first = above + 1n;
  while (first <= version) {
    const startedMs = performance.now();
    const part = await view.emitted(first);
    if (part === undefined) return undefined;
    for (const stream of part.streams) keys.add(eventsKey(stream));
    for (const typeTag of part.typeTags) keys.add(typeKey(typeTag));
    first = part.next;
    await share.spend(performance.now() - startedMs);
  }
  return keys;
}
