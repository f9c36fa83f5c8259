/** Transactions of validators as JSON (docs/spec/transactions.md §2.8). */
import { isUtf8 } from 'node:buffer';
import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { setBits } from '../../move/bcs/bits.ts';
import { tryParse } from '../../move/errors.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import type {
  AggregateSignature,
  ValidatorTransaction,
} from '../../move/transactions/validator-transaction.ts';
import { formatAddress } from '../../move/types/address.ts';
import { jsonTo, writeList } from './json-parts.ts';

/** Writes the members of a validator transaction after its time, up to and with its kind. */
export function writeValidator(out: JsonWriter, transaction: ValidatorTransaction): void {
  const json = jsonTo(out);
  switch (transaction.kind) {
    case 'dkgResult': {
      const { epoch, author, transcript } = transaction;
      json`"dkg_transcript":{"epoch":"${epoch}","author":"${formatAddress(author)}","payload":${transcript}},`;
      json`"validator_transaction_type":"dkg_result"`;
      break;
    }
    case 'observedJwkUpdate': {
      const { version, jwks, signature, issuer: bytes } = transaction;
      const issuer = JSON.stringify(isUtf8(bytes) ? bytes.toString('utf8') : 'non_utf8_issuer');
      json`"quorum_certified_update":{"update":{"issuer":${issuer},"version":${version},`;
      json`"jwks":${() => writeList(out, jwks, (jwk) => writeJwk(out, jwk))}},`;
      json`"multi_sig":${aggregate(out, signature)}},"validator_transaction_type":"observed_jwk_update"`;
      break;
    }
    case 'chunkyDkgResult': {
      const { epoch, author, transcript, signature, encryptionKey } = transaction;
      json`"certified_subtrx":{"epoch":"${epoch}","author":"${formatAddress(author)}","subtrx":${transcript},`;
      json`"signature":${aggregate(out, signature)}},"encryption_key":${encryptionKey},`;
      json`"validator_transaction_type":"chunky_d_k_g_result"`;
    }
  }
}

/** A key of an unknown type, or whose value does not decode, is shown as bytes. */
function writeJwk(out: JsonWriter, { typeName, data }: { typeName: string; data: Buffer }): void {
  const read = JWKS.get(typeName);
  const known = read && tryParse(() => decodeBcs(data, read));
  if (known !== undefined) out.text(JSON.stringify(known));
  else jsonTo(out)`{"type":${JSON.stringify(typeName)},"data":${data}}`;
}

const JWKS = new Map<string, (reader: BcsReader) => object>([
  [
    '0x1::jwks::RSA_JWK',
    (reader) =>
      Object.fromEntries(['kid', 'kty', 'alg', 'e', 'n'].map((name) => [name, reader.string()])),
  ],
  [
    '0x1::jwks::UnsupportedJWK',
    (reader) => ({ id: [...reader.bytes()], payload: [...reader.bytes()] }),
  ],
]);

const aggregate =
  (out: JsonWriter, { validatorBitmask, signature }: AggregateSignature) =>
  () =>
    jsonTo(out)`{"signer_indices":[${setBits(validatorBitmask).join()}],"sig":${signature}}`;
