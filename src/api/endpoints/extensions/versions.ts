/** `GET /v1/versions/by_timestamp/{timestamp_usecs}` (docs/extensions.md). */
import { andThen } from '../../../maybe-promise.ts';
import { encodeBcs } from '../../../move/bcs/bcs-writer.ts';
import { VersionAtTimeSchema } from '../../schemas/extension-schemas.ts';
import { defineRead } from '../endpoint.ts';
import { pathParameter, U64 } from '../parameters.ts';

export const versionByTimestampEndpoint = defineRead({
  operationId: 'get_version_by_timestamp',
  tag: 'Blocks',
  summary: 'Get version by timestamp',
  description:
    'Retrieves the last version at or before a time, with its block: all transactions of a block have the ' +
    'timestamp of the block. After the newest block it is the latest version; before the oldest retained one 410. ' +
    'An extension of this node.',
  isExtension: true,
  isDecidedByView: true,
  path: '/versions/by_timestamp/{timestamp_usecs}',
  parameters: {
    timestamp_usecs: pathParameter(U64, 'Microseconds since 1970.', '1767225601208522'),
  },
  results: {
    description: 'The version and its block.',
    json: VersionAtTimeSchema,
    bcs: 'Version, timestamp, block height and epoch, a u64 each.',
  },
  answer({ parameters, view, format }) {
    return andThen(view.versionAtTime(parameters.timestamp_usecs), (found) => {
      const { version, timestampUsecs, blockHeight, epoch, isFinal } = found;
      const body =
        format === 'json'
          ? `{"version":"${version}","timestamp":"${timestampUsecs}",` +
            `"block_height":"${blockHeight}","epoch":"${epoch}"}`
          : encodeBcs((writer) =>
              writer.u64(version).u64(timestampUsecs).u64(blockHeight).u64(epoch),
            );
      return { body, isImmutable: isFinal };
    });
  },
});
