/** Transactions that begin and end blocks, as JSON (docs/spec/transactions.md §2.7). */
import type { JsonWriter } from '../../move/json/json-writer.ts';
import type {
  BlockEpilogue,
  BlockMetadata,
  BlockMetadataExt,
} from '../../move/transactions/block-transaction.ts';
import { formatAddress } from '../../move/types/address.ts';
import { jsonTo } from './json-parts.ts';

/** Writes the members of a block's first transaction before its events. */
export function writeBlockId(out: JsonWriter, { id, epoch, round }: BlockMetadata): void {
  jsonTo(out)`"id":${id},"epoch":"${epoch}","round":"${round}"`;
}

/** Writes the members after the events. */
export function writeProposal(out: JsonWriter, metadata: BlockMetadata): void {
  const { previousBlockVotesBitvec: votes, failedProposerIndices, timestampUsecs } = metadata;
  const json = jsonTo(out);
  json`"previous_block_votes_bitvec":[${votes.join()}],"proposer":"${formatAddress(metadata.proposer)}",`;
  json`"failed_proposer_indices":[${failedProposerIndices.join()}],"timestamp":"${timestampUsecs}"`;
}

/** Epoch and round of randomness and key are not shown. */
export function writeExtension(out: JsonWriter, metadata: BlockMetadataExt): void {
  const json = jsonTo(out);
  json`"block_metadata_extension":{`;
  if (metadata.kind !== 'v0') json`"randomness":${metadata.randomness?.bytes},`;
  if (metadata.kind === 'v2') json`"decryption_key":${metadata.decryptionKey?.bytes},`;
  json`"type":"${metadata.kind}"}`;
}

export function writeBlockEnd(out: JsonWriter, { endInfo }: BlockEpilogue): void {
  const json = jsonTo(out);
  json`"block_end_info":{"block_gas_limit_reached":${endInfo.blockGasLimitReached},`;
  json`"block_output_limit_reached":${endInfo.blockOutputLimitReached},`;
  json`"block_effective_block_gas_units":${endInfo.effectiveBlockGasUnits},`;
  json`"block_approx_output_size":${endInfo.approxOutputSize}}`;
}
