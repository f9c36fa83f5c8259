/** Which node the upstream is. */
import { FeedError } from '../../ingest/feed/feed-error.ts';
import { interfaceBase } from '../../ingest/feed/interface-url.ts';
import { NodeError } from '../node-error.ts';
import type { NodeSettings } from './settings.ts';

/** The value of the setting for no upstream at all. */
const NO_UPSTREAM = 'none';

/**
 * The base of the upstream's interface that the settings choose; undefined for none.
 * @throws NodeError `bad_setting`
 */
export function upstreamBase({
  upstream,
  follow,
}: Pick<NodeSettings, 'upstream' | 'follow'>): URL | undefined {
  const url = upstream === '' ? follow : upstream;
  if (url === '' || url === NO_UPSTREAM) return undefined;
  try {
    return interfaceBase(url);
  } catch (cause) {
    if (!(cause instanceof FeedError)) throw cause;
    const setting = upstream === '' ? 'follow' : 'upstream';
    throw new NodeError('bad_setting', `${setting}: ${cause.message}`, { cause, exitCode: 2 });
  }
}
