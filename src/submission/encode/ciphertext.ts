/**
 * The ciphertext of an encrypted payload: BCS of a batch encryption. Its curve points and its field element are checked
 * as the reference does (docs/spec/encode.md §A2). Nothing is decrypted.
 */
import { Field, FpIsSquare } from '@noble/curves/abstract/modular.js';
import { BcsError, type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { EncodeError } from './encode-error.ts';

/** The field of the curve edwards25519, whose points are verification keys (RFC 8032 §5.1). */
const edwardsField = Field(2n ** 255n - 19n);
const EDWARDS_D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;

/** The parameter of the curves BLS12-381, from which the order of their groups and their field follow. */
const CURVE_PARAMETER = -0xd201000000010000n;
const GROUP_ORDER = CURVE_PARAMETER ** 4n - CURVE_PARAMETER ** 2n + 1n;
const pointField = Field(((CURVE_PARAMETER - 1n) ** 2n * GROUP_ORDER) / 3n + CURVE_PARAMETER);

const KEY_BYTES = 32;
const ID_BYTES = 32;
/** A compressed point: both coefficients of its x coordinate, that of u first. */
const POINT_BYTES = 96;
const POINT_COUNT = 3;
/** The padded key of 16 bytes and the nonce of 12. */
const KEY_AND_NONCE_BYTES = 28;
const SIGNATURE_BYTES = 64;

/** The three highest bits of a compressed point. */
const COMPRESSED = 0x80;
const INFINITY = 0x40;
const LARGER_Y = 0x20;

const INVALID = 'the input buffer contained invalid data';
const UNEXPECTED_FLAGS = 'the call expects empty flags';
const SHORT_ID = 'I/O error: Error { kind: UnexpectedEof, message: "failed to fill whole buffer" }';

/**
 * The bytes of a ciphertext as they are signed. Surplus bytes in the byte vectors of the id and of the points are
 * dropped, because the reference does not read them. @throws EncodeError `bad_ciphertext`
 */
export function canonicalCiphertext(bytes: Uint8Array): Buffer {
  try {
    return decodeBcs(bytes, readCanonical);
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw badCiphertext(cause.detail, { cause });
  }
}

function badCiphertext(why: string, options?: ErrorOptions): EncodeError {
  const text = `Failed to BCS-deserialize ciphertext: ${why}`;
  return new EncodeError('convert', 'bad_ciphertext', text, options);
}

function readCanonical(reader: BcsReader): Buffer {
  const key = reader.bytes();
  if (key.length !== KEY_BYTES) {
    throw badCiphertext('signature error: VerifyingKey must be 32 bytes in length');
  }
  if (!isEdwardsPoint(key)) {
    throw badCiphertext('signature error: Cannot decompress Edwards point');
  }
  const id = reader.bytes().subarray(0, ID_BYTES);
  if (id.length < ID_BYTES) throw badCiphertext(SHORT_ID);
  if (littleEndian(id) >= GROUP_ORDER) throw badCiphertext(INVALID);
  const points = reader.bytes().subarray(0, POINT_BYTES * POINT_COUNT);
  for (let at = 0; at < POINT_BYTES * POINT_COUNT; at += POINT_BYTES) {
    checkPoint(points.subarray(at, at + POINT_BYTES));
  }
  const rest = reader.offset;
  reader.skip(KEY_AND_NONCE_BYTES);
  // The body, then the associated data.
  reader.bytes();
  reader.bytes();
  reader.skip(SIGNATURE_BYTES);
  const writer = new BcsWriter(512).bytes(key).bytes(id).bytes(points);
  return writer.fixed(reader.buffer.subarray(rest, reader.offset)).view();
}

function bigEndian(bytes: Uint8Array): bigint {
  return BigInt(formatHex(bytes));
}

function littleEndian(bytes: Uint8Array): bigint {
  return bigEndian(Uint8Array.from(bytes).reverse());
}

/** Whether a point of the curve has this y of 255 bits, which may exceed the modulus. The highest bit selects x. */
function isEdwardsPoint(key: Uint8Array): boolean {
  const field = edwardsField;
  const ySquared = field.sqr(field.create(BigInt.asUintN(255, littleEndian(key))));
  // x² is the quotient of these two, and a quotient is a square if the product is.
  const dividend = field.sub(ySquared, 1n);
  const divisor = field.add(field.mul(EDWARDS_D, ySquared), 1n);
  return FpIsSquare(field, field.mul(dividend, divisor));
}

/** Checks that a point is on the curve. Its subgroup is not checked, as in the reference. */
function checkPoint(point: Uint8Array): void {
  if (point.length < POINT_BYTES) throw badCiphertext(INVALID);
  const flags = point[0]!;
  const isCompressed = (flags & COMPRESSED) !== 0;
  const isInfinity = (flags & INFINITY) !== 0;
  if ((flags & LARGER_Y) !== 0 && (!isCompressed || isInfinity)) throw badCiphertext(INVALID);
  if (!isCompressed) throw badCiphertext(UNEXPECTED_FLAGS);
  const imaginary = BigInt.asUintN(381, bigEndian(point.subarray(0, POINT_BYTES / 2)));
  const real = bigEndian(point.subarray(POINT_BYTES / 2));
  const isValid = isInfinity ? real === 0n && imaginary === 0n : hasPoint(real, imaginary);
  if (!isValid) throw badCiphertext(INVALID);
}

/**
 * Whether x³ + 4(1 + u) is a square, for x = real + imaginary·u with u² = -1. This holds exactly if its norm is a
 * square.
 */
function hasPoint(real: bigint, imaginary: bigint): boolean {
  const field = pointField;
  if (!field.isValid(real) || !field.isValid(imaginary)) return false;
  const realSquared = field.sqr(real);
  const imaginarySquared = field.sqr(imaginary);
  const threefold = (value: bigint) => field.mul(value, 3n);
  const ySquaredReal = real * field.sub(realSquared, threefold(imaginarySquared)) + 4n;
  const ySquaredImaginary = imaginary * field.sub(threefold(realSquared), imaginarySquared) + 4n;
  const norm = ySquaredReal * ySquaredReal + ySquaredImaginary * ySquaredImaginary;
  return FpIsSquare(field, field.create(norm));
}
