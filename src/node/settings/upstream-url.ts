/** The URLs of other nodes, as settings name them. */
import { interfaceBase } from '../../remote/node-url.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { NodeError } from '../node-error.ts';
import type { NodeSettings } from './settings.ts';

const NO_UPSTREAM = 'none';

/**
 * The base of the upstream's interface that the settings choose; undefined for none. @throws NodeError `bad_setting`
 */
export function upstreamBase({
  upstream,
  follow,
}: Pick<NodeSettings, 'upstream' | 'follow'>): URL | undefined {
  const url = upstream === '' ? follow : upstream;
  if (url === '' || url === NO_UPSTREAM) return undefined;
  return namedBase(url, upstream === '' ? 'follow: ' : 'upstream: ');
}

/** @param prefix of the message @throws NodeError `bad_setting` */
export function namedBase(url: string, prefix = ''): URL {
  try {
    return interfaceBase(url);
  } catch (cause) {
    if (!(cause instanceof RemoteError)) throw cause;
    throw new NodeError('bad_setting', prefix + cause.message, { cause, exitCode: 2 });
  }
}
