/** Transactions that begin and end blocks, as JSON (docs/spec/transactions.md §2.7). */
import type {
  BlockEpilogue,
  BlockMetadata,
  BlockMetadataExt,
} from '../../move/transactions/block-transaction.ts';
import { optionalHex, quotedAddress, quotedHex } from './json-units.ts';
import { byteList } from './validator-json.ts';

/** The members around the events of a block's first transaction. */
export function metadataMembers(
  metadata: BlockMetadata,
): readonly [beforeEvents: string, afterEvents: string] {
  const { id, epoch, round, proposer, timestampUsecs } = metadata;
  return [
    `"id":${quotedHex(id)},"epoch":"${epoch}","round":"${round}"`,
    `"previous_block_votes_bitvec":${byteList(metadata.previousBlockVotesBitvec)},` +
      `"proposer":${quotedAddress(proposer)},` +
      `"failed_proposer_indices":[${metadata.failedProposerIndices.join(',')}],` +
      `"timestamp":"${timestampUsecs}"`,
  ];
}

/** Epoch and round of randomness and key are not shown. */
export function extensionJson(metadata: BlockMetadataExt): string {
  if (metadata.kind === 'v0') return '{"type":"v0"}';
  const randomness = `"randomness":${optionalHex(metadata.randomness?.bytes)}`;
  if (metadata.kind === 'v1') return `{${randomness},"type":"v1"}`;
  return `{${randomness},"decryption_key":${optionalHex(metadata.decryptionKey?.bytes)},"type":"v2"}`;
}

export function blockEndJson({ endInfo }: BlockEpilogue): string {
  return (
    `{"block_gas_limit_reached":${endInfo.blockGasLimitReached},` +
    `"block_output_limit_reached":${endInfo.blockOutputLimitReached},` +
    `"block_effective_block_gas_units":${endInfo.effectiveBlockGasUnits},` +
    `"block_approx_output_size":${endInfo.approxOutputSize}}`
  );
}
