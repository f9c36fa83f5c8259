/** Transactions of validators as JSON (docs/spec/transactions.md §2.8). */
import { isUtf8 } from 'node:buffer';
import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { setBits } from '../../move/bcs/bits.ts';
import { tryParse } from '../../move/errors.ts';
import type {
  AggregateSignature,
  ValidatorTransaction,
} from '../../move/transactions/validator-transaction.ts';
import { listOf, optionalHex, quoted, quotedAddress, quotedHex } from './json-units.ts';

/** The members of a validator transaction after its time, up to and with its kind. */
export function validatorMembers(transaction: ValidatorTransaction): string {
  switch (transaction.kind) {
    case 'dkgResult': {
      const { epoch, author, transcript } = transaction;
      return (
        `"dkg_transcript":{"epoch":"${epoch}","author":${quotedAddress(author)},` +
        `"payload":${quotedHex(transcript)}},"validator_transaction_type":"dkg_result"`
      );
    }
    case 'observedJwkUpdate': {
      const { version, jwks, signature } = transaction;
      const { issuer: bytes } = transaction;
      const issuer = quoted(isUtf8(bytes) ? bytes.toString('utf8') : 'non_utf8_issuer');
      return (
        `"quorum_certified_update":{"update":{"issuer":${issuer},"version":${version},` +
        `"jwks":${listOf(jwks, jwkJson)}},"multi_sig":${aggregateJson(signature)}},` +
        '"validator_transaction_type":"observed_jwk_update"'
      );
    }
    case 'chunkyDkgResult': {
      const { epoch, author, transcript, signature, encryptionKey } = transaction;
      return (
        `"certified_subtrx":{"epoch":"${epoch}","author":${quotedAddress(author)},` +
        `"subtrx":${quotedHex(transcript)},"signature":${aggregateJson(signature)}},` +
        `"encryption_key":${quotedHex(encryptionKey)},"validator_transaction_type":"chunky_d_k_g_result"`
      );
    }
  }
}

/** A key that is not of a known type, or not a value of it, is shown as its bytes. */
function jwkJson({ typeName, data }: { typeName: string; data: Buffer }): string {
  const shown = tryParse(() => {
    if (typeName === '0x1::jwks::RSA_JWK') return decodeBcs(data, rsaJson);
    return typeName === '0x1::jwks::UnsupportedJWK' ? decodeBcs(data, unsupportedJson) : undefined;
  });
  return shown ?? `{"type":${quoted(typeName)},"data":${quotedHex(data)}}`;
}

function rsaJson(reader: BcsReader): string {
  const members = ['kid', 'kty', 'alg', 'e', 'n'].map(
    (name) => `"${name}":${quoted(reader.string())}`,
  );
  return `{${members.join(',')}}`;
}

function unsupportedJson(reader: BcsReader): string {
  const id = byteList(reader.bytes());
  return `{"id":${id},"payload":${byteList(reader.bytes())}}`;
}

function aggregateJson({ validatorBitmask, signature }: AggregateSignature): string {
  const signers = setBits(validatorBitmask).join(',');
  return `{"signer_indices":[${signers}],"sig":${optionalHex(signature)}}`;
}

export function byteList(bytes: Uint8Array): string {
  return `[${bytes.join(',')}]`;
}
