/** The signed part of a user transaction as JSON, with the members of a request (docs/spec/transactions.md §2.5). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import type { ExtraConfig } from '../../move/transactions/executable.ts';
import { type RawPlaces, readRawPlaces } from '../../move/transactions/user-transaction.ts';
import { formatAddress } from '../../move/types/address.ts';
import type { Decoding } from './decoding.ts';
import { jsonTo } from './json-parts.ts';
import { extraConfigOf, readPayload, writePayload } from './payload-json.ts';
import { writeSignature } from './signature-json.ts';

const U64_BYTES = 8;

const SENDER = Buffer.from('"sender":');
const SEQUENCE_NUMBER = Buffer.from(',"sequence_number":');
const MAX_GAS_AMOUNT = Buffer.from(',"max_gas_amount":');
const GAS_UNIT_PRICE = Buffer.from(',"gas_unit_price":');
const EXPIRATION = Buffer.from(',"expiration_timestamp_secs":');
const PAYLOAD = Buffer.from(',"payload":');
const SIGNATURE = Buffer.from(',"signature":');
const NO_CONFIG = Buffer.from(',"replay_protection_nonce":null,"txn_limits_request":null');

/** A signed transaction, read but not written yet. */
export interface Request {
  readonly buffer: Buffer;
  readonly raw: RawPlaces<ReturnType<typeof readPayload>>;
  readonly signature: Buffer;
}

/** Reads a signed transaction. @param out an empty writer, which renders the signature and is empty again afterwards */
export function readRequest(out: JsonWriter, reader: BcsReader): Request {
  const raw = readRawPlaces(reader, readPayload);
  writeSignature(out, reader);
  return { buffer: reader.buffer, raw, signature: out.take() };
}

/** Writes its members, from the sender to the requested limits. */
export function writeRequest(
  out: JsonWriter,
  { buffer, raw, signature }: Request,
  decoding: Decoding,
): MaybePromise<void> {
  const { payload, senderAt, sequenceNumberAt, limitsAt } = raw;
  out.part(SENDER);
  out.quotedAddress(buffer, senderAt);
  out.part(SEQUENCE_NUMBER);
  out.quotedU64(buffer, sequenceNumberAt);
  out.part(MAX_GAS_AMOUNT);
  out.quotedU64(buffer, limitsAt);
  out.part(GAS_UNIT_PRICE);
  out.quotedU64(buffer, limitsAt + U64_BYTES);
  out.part(EXPIRATION);
  out.quotedU64(buffer, limitsAt + 2 * U64_BYTES);
  out.part(PAYLOAD);
  return andThen(writePayload(out, payload, decoding), () => {
    out.part(SIGNATURE);
    out.part(signature);
    const config = extraConfigOf(payload);
    if (config === undefined) out.part(NO_CONFIG);
    else {
      const { replayProtectionNonce: nonce } = config;
      const nonceJson = nonce === undefined ? undefined : `"${nonce}"`;
      const limits = (): void => writeLimits(out, config);
      jsonTo(out)`,"replay_protection_nonce":${nonceJson},"txn_limits_request":${limits}`;
    }
  });
}

const LIMITS_TYPES = {
  stakePoolOwner: 'stake_pool_owner',
  delegatedVoter: 'delegated_voter',
  delegationPoolDelegator: 'delegation_pool_delegator',
} as const;

function writeLimits(out: JsonWriter, config: ExtraConfig): void {
  const json = jsonTo(out);
  const request = config.kind === 'v2' ? config.limitsRequest : undefined;
  if (request === undefined) {
    json`null`;
    return;
  }
  const { executionPercent, ioPercent } = request.multipliers;
  json`{`;
  if (request.kind !== 'stakePoolOwner')
    json`"pool_address":"${formatAddress(request.poolAddress)}",`;
  json`"multipliers":{"execution_multiplier_percent":"${executionPercent}",`;
  json`"io_multiplier_percent":"${ioPercent}"},"type":"${LIMITS_TYPES[request.kind]}"}`;
}
