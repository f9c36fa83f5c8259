/** Keys of identity providers, as a chain knows them (docs/spec/vm.md §9.1). */
import { BcsError, type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { parseJson } from '../../move/json/json-text.ts';
import { VmError } from '../../vm/status/status.ts';

/** An RSA key; numbers are base64url. */
export interface RsaKey {
  readonly id: string;
  readonly algorithm: string;
  readonly exponent: string;
  readonly modulus: string;
}

export interface IssuerKeys {
  readonly issuer: Buffer;
  /** Each key has the name of its type. */
  readonly keys: readonly { readonly type: string; readonly data: Buffer }[];
}

const RSA = '0x1::jwks::RSA_JWK';
const UNSUPPORTED = '0x1::jwks::UnsupportedJWK';
/** The fewest bytes of an issuer's keys, and of a key. */
const MIN_ISSUER_BYTES = 10;
const MIN_KEY_BYTES = 2;

/** Reads `PatchedJWKs` or `FederatedJWKs` of `0x1::jwks`. @throws BcsError */
export function readIssuers(reader: BcsReader): readonly IssuerKeys[] {
  return reader.vector(MIN_ISSUER_BYTES, (inner) => {
    const issuer = inner.bytes();
    inner.u64();
    return { issuer, keys: inner.vector(MIN_KEY_BYTES, readTypedKey) };
  });
}

function readTypedKey(reader: BcsReader) {
  const type = reader.string();
  return { type, data: reader.bytes() };
}

/** Reads key id and algorithm from a token's header. @throws VmError INVALID_SIGNATURE */
function readTokenHeader(json: string): { readonly id: string; readonly algorithm: string } {
  let header: ReturnType<typeof parseJson> | undefined;
  try {
    header = parseJson(Buffer.from(json));
  } catch {
    // Refused below.
  }
  const [id, algorithm] = ['kid', 'alg'].map((name) =>
    header instanceof Map ? header.get(name) : undefined,
  );
  if (typeof id !== 'string' || typeof algorithm !== 'string') {
    throw invalid('Failed to parse JWT header');
  }
  return { id, algorithm };
}

/**
 * Finds the key that a token names. @throws VmError INVALID_SIGNATURE
 * @param header of the token, JSON
 */
export function findKey(issuers: readonly IssuerKeys[], issuer: string, header: string): RsaKey {
  const { id, algorithm } = readTokenHeader(header);
  const of = issuers.find((one) => one.issuer.equals(Buffer.from(issuer)));
  for (const { type, data } of of?.keys ?? []) {
    const found = tryDecode(() => readKey(type, data));
    if (found === undefined) break;
    if (!found.id.equals(Buffer.from(id))) continue;
    if (found.key === undefined) throw invalid(`JWK with KID ${id} is not supported`);
    if (found.key.algorithm === algorithm) return found.key;
    const text = `JWK alg (${found.key.algorithm}) does not match JWT header's alg (${algorithm})`;
    throw invalid(text);
  }
  throw invalid(`JWK for ${issuer} with KID ${id} was not found`);
}

/** `key` is absent if it is of another scheme. */
function readKey(
  type: string,
  data: Buffer,
): { readonly id: Buffer; readonly key: RsaKey | undefined } | undefined {
  if (type === UNSUPPORTED) {
    const [id] = decodeBcs(data, (reader) => [reader.bytes(), reader.bytes()] as const);
    return { id, key: undefined };
  }
  if (type !== RSA) return undefined;
  return decodeBcs(data, (reader) => {
    const id = reader.string();
    reader.string();
    const algorithm = reader.string();
    const exponent = reader.string();
    return { id: Buffer.from(id), key: { id, algorithm, exponent, modulus: reader.string() } };
  });
}

/** Returns what was read, or `undefined` if the bytes are malformed BCS. */
export function tryDecode<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}

export function invalid(text: string): VmError {
  return new VmError('INVALID_SIGNATURE', { text });
}
