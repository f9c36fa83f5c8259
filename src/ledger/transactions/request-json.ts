/** What a user signed, as the members that a request has too (docs/spec/transactions.md §2.5). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { ExtraConfig } from '../../move/transactions/executable.ts';
import { RawTransaction } from '../../move/transactions/user-transaction.ts';
import type { Decoding } from './decoding.ts';
import { quotedAddress } from './json-units.ts';
import { extraConfigOf, payloadJson } from './payload-json.ts';
import { signatureJson } from './signature-json.ts';

/** Reads a signed transaction and gives its members, from the sender to the requested limits, without braces. */
export function requestMembers(reader: BcsReader): (decoding: Decoding) => MaybePromise<string> {
  const raw = RawTransaction.read(reader);
  const signature = signatureJson(reader);
  const config = extraConfigOf(raw.payload);
  const nonce = config?.replayProtectionNonce;
  const head =
    `"sender":${quotedAddress(raw.sender)},"sequence_number":"${raw.sequenceNumber}",` +
    `"max_gas_amount":"${raw.maxGasAmount}","gas_unit_price":"${raw.gasUnitPrice}",` +
    `"expiration_timestamp_secs":"${raw.expirationTimestampSecs}","payload":`;
  const tail =
    `,"signature":${signature},"replay_protection_nonce":${nonce === undefined ? 'null' : `"${nonce}"`},` +
    `"txn_limits_request":${limitsJson(config)}`;
  return (decoding) =>
    andThen(payloadJson(raw.payload, decoding), (payload) => head + payload + tail);
}

const LIMITS_TYPES = {
  stakePoolOwner: 'stake_pool_owner',
  delegatedVoter: 'delegated_voter',
  delegationPoolDelegator: 'delegation_pool_delegator',
} as const;

function limitsJson(config: ExtraConfig | undefined): string {
  if (config?.kind !== 'v2' || config.limitsRequest === undefined) return 'null';
  const { limitsRequest: request } = config;
  const { executionPercent, ioPercent } = request.multipliers;
  const pool =
    request.kind === 'stakePoolOwner'
      ? ''
      : `"pool_address":${quotedAddress(request.poolAddress)},`;
  return (
    `{${pool}"multipliers":{"execution_multiplier_percent":"${executionPercent}",` +
    `"io_multiplier_percent":"${ioPercent}"},"type":"${LIMITS_TYPES[request.kind]}"}`
  );
}
