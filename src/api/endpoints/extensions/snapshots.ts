/**
 * `GET /v1/-/snapshots` (docs/extensions.md): the snapshots that this node offers, and their files. None
 * is offered unless the node's settings name a folder of them.
 */
import { ApiError } from '../../http/error-table.ts';
import { BASE_PATH, decodePathParameter } from '../../http/request-target.ts';
import type { Responder } from '../../http/responder.ts';
import type { RouteRow } from '../../http/routes.ts';
import { SnapshotListSchema } from '../../schemas/extension-schemas.ts';
import type { SnapshotOffer } from '../../snapshot-offer.ts';
import { defineRead } from '../endpoint.ts';

const PATH = '/-/snapshots';

export const snapshotsEndpoint = defineRead({
  operationId: 'get_snapshots',
  isNeverBatched: true,
  tag: 'General',
  summary: 'List the snapshots that the node offers',
  description:
    'Snapshots from which another node can begin, the newest first; none unless the node’s operator ' +
    'offers some. Their files are below `/-/snapshots/NAME/`: `manifest.json`, and those that it names. ' +
    'Always JSON.',
  isExtension: true,
  work: 'listing',
  path: PATH,
  parameters: {},
  results: { description: 'The snapshots.', json: SnapshotListSchema },
  failures: [400, 500, 503],
  async answer({ snapshots }) {
    const offered = (await snapshots?.list()) ?? [];
    const items = offered.map(({ name, chainId, version, newestVersion, timestampUsecs }) => ({
      name,
      chain_id: chainId,
      version: String(version),
      newest_version: String(newestVersion),
      timestamp_usecs: String(timestampUsecs),
    }));
    return { body: JSON.stringify(items) };
  },
});

/** The files of offered snapshots. */
export function snapshotFileRow(offer: SnapshotOffer, responder: Responder): RouteRow {
  const path = `${BASE_PATH}${PATH}/{snapshot}/{name}`;
  const route = {
    operationId: 'get_snapshot_file',
    work: 'listing',
    async answer({ response, path }: Parameters<RouteRow['route']['answer']>[0]) {
      const snapshot = decodePathParameter(path['snapshot']!);
      const name = decodePathParameter(path['name']!);
      const file = await offer.file(snapshot, name);
      if (file === undefined) {
        throw new ApiError(404, 'web_framework_error', 'There is no such file of a snapshot');
      }
      const contentType = name.endsWith('.json') ? 'application/json' : 'application/octet-stream';
      await responder.sendFile(response, {
        ...{ path: '', contentType, isImmutable: false, securityHeaders: [] },
        ...file,
      });
    },
  } as const;
  return { path, method: 'GET', route };
}
