/**
 * Bulletproofs (eprint.iacr.org/2017/1066): proofs that committed numbers have at most a given number of bits, encoded
 * and verified as in the crate `bulletproofs` (docs/spec/vm.md §6.10).
 */
import { keccakP, shake256 } from '@noble/hashes/sha3.js';
import {
  IDENTITY,
  inverse,
  isScalar,
  pointOfUniformBytes,
  type RistrettoPoint,
  readRistretto,
  readScalar,
  reduced,
  scalarBytes,
  sumOfProducts,
} from './ristretto.ts';
import { bytesOfInteger, integerOfBytes, type YieldTurn } from './turns.ts';

/** Bytes of the state that absorb data. */
const RATE = 166;
const STATE_BYTES = 200;

const INBOUND = 1;
const APPLICATION = 2;
const CIPHER = 4;
const META = 16;

const U32_BYTES = 4;
const U64_BYTES = 8;
/** Enough for a scalar without bias. */
const WIDE_BYTES = 64;

const encoder = new TextEncoder();

/**
 * Transcripts of Merlin 1.0, from which a verifier draws the challenges that the prover drew. They use STROBE-128
 * (strobe.sourceforge.io/specs, version 1.0.2), of which only Merlin's subset is implemented.
 */
export class Transcript {
  readonly #state = new Uint8Array(STATE_BYTES);
  #position = 0;
  #begin = 0;

  /** @param label says what the transcript is for */
  constructor(label: Uint8Array) {
    this.#state.set([1, RATE + 2, 1, 0, 1, 12 * 8]);
    this.#state.set(encoder.encode('STROBEv1.0.2'), 6);
    this.#permute();
    this.#operate(META | APPLICATION, encoder.encode('Merlin v1.0'));
    this.append('dom-sep', label);
  }

  append(label: string, message: Uint8Array): void {
    this.#frame(label, message.length);
    this.#operate(APPLICATION, message);
  }

  appendText(label: string, text: string): void {
    this.append(label, encoder.encode(text));
  }

  appendU64(label: string, value: number): void {
    const bytes = new Uint8Array(U64_BYTES);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
    this.append(label, bytes);
  }

  challengeBytes(label: string, count: number): Uint8Array {
    this.#frame(label, count);
    this.#start(INBOUND | APPLICATION | CIPHER);
    const bytes = new Uint8Array(count);
    for (let index = 0; index < count; index += 1) {
      bytes[index] = this.#state[this.#position]!;
      this.#state[this.#position] = 0;
      this.#advance();
    }
    return bytes;
  }

  /** A number to reduce by the order of a group. */
  challenge(label: string): bigint {
    return integerOfBytes(this.challengeBytes(label, WIDE_BYTES));
  }

  /** A label and the length of the data that follows are one operation. */
  #frame(label: string, byteLength: number): void {
    this.#operate(META | APPLICATION, encoder.encode(label));
    const length = new Uint8Array(U32_BYTES);
    new DataView(length.buffer).setUint32(0, byteLength, true);
    this.#absorb(length);
  }

  #operate(flags: number, data: Uint8Array): void {
    this.#start(flags);
    this.#absorb(data);
  }

  #start(flags: number): void {
    const begin = this.#begin;
    this.#begin = this.#position + 1;
    this.#absorb(Uint8Array.of(begin, flags));
    if ((flags & CIPHER) !== 0 && this.#position !== 0) this.#runPermutation();
  }

  #absorb(data: Uint8Array): void {
    for (const byte of data) {
      this.#state[this.#position]! ^= byte;
      this.#advance();
    }
  }

  #advance(): void {
    this.#position += 1;
    if (this.#position === RATE) this.#runPermutation();
  }

  #runPermutation(): void {
    this.#state[this.#position]! ^= this.#begin;
    this.#state[this.#position + 1]! ^= 0x04;
    this.#state[RATE + 1]! ^= 0x80;
    this.#permute();
    this.#position = 0;
    this.#begin = 0;
  }

  #permute(): void {
    keccakP(new Uint32Array(this.#state.buffer));
  }
}

const ITEM_BYTES = 32;
/** A proof has four points and three scalars, then two points per round, and two scalars. */
const FIXED_ITEMS = 7;
const LAST_SCALARS = 2;
const MAX_ROUNDS = 31;
const UNIFORM_BYTES = 64;
const NO_POINT = new Uint8Array(ITEM_BYTES);

/** Scalars as written in the proof; points are not decoded yet. */
export interface RangeProof {
  /** `A`, `S`, `T1`, `T2`. */
  readonly points: readonly Uint8Array[];
  readonly value: bigint;
  readonly valueBlinding: bigint;
  readonly blinding: bigint;
  readonly left: readonly Uint8Array[];
  readonly right: readonly Uint8Array[];
  readonly a: bigint;
  readonly b: bigint;
}

/** `undefined` for bytes that are not a proof. */
export function readRangeProof(bytes: Uint8Array): RangeProof | undefined {
  const rounds = (bytes.length / ITEM_BYTES - FIXED_ITEMS - LAST_SCALARS) / 2;
  if (!Number.isInteger(rounds) || rounds < 0 || rounds > MAX_ROUNDS) return undefined;
  const items = Array.from({ length: bytes.length / ITEM_BYTES }, (_, index) =>
    bytes.subarray(index * ITEM_BYTES, (index + 1) * ITEM_BYTES),
  );
  const written = [...items.slice(4, FIXED_ITEMS), ...items.slice(-LAST_SCALARS)];
  if (!written.every(isScalar)) return undefined;
  const [value, valueBlinding, blinding, a, b] = written.map((item) => readScalar(item)!);
  const pairs = items.slice(FIXED_ITEMS, -LAST_SCALARS);
  return {
    points: items.slice(0, 4),
    ...{ value: value!, valueBlinding: valueBlinding!, blinding: blinding!, a: a!, b: b! },
    left: pairs.filter((_, index) => index % 2 === 0),
    right: pairs.filter((_, index) => index % 2 === 1),
  };
}

interface RangeStatement {
  /** Encoded points, a power of two of them. */
  readonly commitments: readonly Uint8Array[];
  /** 8, 16, 32 or 64. */
  readonly bits: number;
  readonly base: RistrettoPoint;
  readonly blindingBase: RistrettoPoint;
  readonly domain: Uint8Array;
}

interface Challenges {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
  readonly w: bigint;
  /** The verifier's private challenge, which allows checking both equations at once. */
  readonly c: bigint;
  readonly rounds: readonly bigint[];
}

/** @returns `undefined` for a proof of the wrong length or with a point that no prover sends */
function challengesOf(proof: RangeProof, statement: RangeStatement): Challenges | undefined {
  const { commitments, bits, domain } = statement;
  const count = commitments.length * bits;
  if (2 ** proof.left.length !== count) return undefined;
  const sent = [...proof.points, ...proof.left, ...proof.right];
  if (sent.some((point) => Buffer.compare(point, NO_POINT) === 0)) return undefined;
  const transcript = new Transcript(domain);
  const draw = (label: string): bigint => reduced(transcript.challenge(label));
  transcript.appendText('dom-sep', 'rangeproof v1');
  transcript.appendU64('n', bits);
  transcript.appendU64('m', commitments.length);
  for (const commitment of commitments) transcript.append('V', commitment);
  transcript.append('A', proof.points[0]!);
  transcript.append('S', proof.points[1]!);
  const [y, z] = [draw('y'), draw('z')];
  transcript.append('T_1', proof.points[2]!);
  transcript.append('T_2', proof.points[3]!);
  const x = draw('x');
  transcript.append('t_x', scalarBytes(proof.value));
  transcript.append('t_x_blinding', scalarBytes(proof.valueBlinding));
  transcript.append('e_blinding', scalarBytes(proof.blinding));
  const w = draw('w');
  transcript.appendText('dom-sep', 'ipp v1');
  transcript.appendU64('n', count);
  const rounds = proof.left.map((left, index) => {
    transcript.append('L', left);
    transcript.append('R', proof.right[index]!);
    return draw('u');
  });
  transcript.append('a', scalarBytes(proof.a));
  transcript.append('b', scalarBytes(proof.b));
  return { x, y, z, w, rounds, c: draw('c') };
}

/** Generators of vectors, by party, computed when first needed: at most 2 × 16 × 64. */
const generators = new Map<string, readonly RistrettoPoint[]>();
const MAX_BITS = 64;

function generatorsOf(kind: 'G' | 'H', party: number): readonly RistrettoPoint[] {
  const known = generators.get(`${kind}${party}`);
  if (known !== undefined) return known;
  const label = new TextEncoder().encode(`GeneratorsChain${kind}`);
  const input = Buffer.concat([label, bytesOfInteger(BigInt(party), 4)]);
  const stream = shake256(input, { dkLen: MAX_BITS * UNIFORM_BYTES });
  const points = Array.from({ length: MAX_BITS }, (_, index) =>
    pointOfUniformBytes(stream.subarray(index * UNIFORM_BYTES, (index + 1) * UNIFORM_BYTES)),
  );
  generators.set(`${kind}${party}`, points);
  return points;
}

/** The powers of a scalar from 1 on. */
function powers(of: bigint, count: number): bigint[] {
  const found: bigint[] = [];
  for (let power = 1n; found.length < count; power = reduced(power * of)) found.push(power);
  return found;
}

function sum(scalars: readonly bigint[]): bigint {
  return reduced(scalars.reduce((left, right) => left + right, 0n));
}

/** For each index of the vectors, the product of the rounds' challenges or of their inverses. */
function roundProducts(rounds: readonly bigint[]): bigint[] {
  let products = [1n];
  for (const challenge of rounds) {
    const inverted = inverse(challenge);
    products = products.flatMap((product) => [
      reduced(product * inverted),
      reduced(product * challenge),
    ]);
  }
  return products;
}

/** Whether a proof shows that each commitment is to a number with at most the given bits. */
export async function isInRange(
  proof: RangeProof,
  statement: RangeStatement,
  yieldTurn: YieldTurn,
): Promise<boolean> {
  const { commitments, bits, base, blindingBase } = statement;
  const challenges = challengesOf(proof, statement);
  if (challenges === undefined) return false;
  const encoded = [...proof.points, ...proof.left, ...proof.right, ...commitments];
  const points = encoded.map(readRistretto);
  if (points.includes(undefined)) return false;
  const { x, y, z, w, c, rounds } = challenges;
  const { value, valueBlinding, blinding, a, b } = proof;
  const parties = commitments.length;
  const zPowers = powers(z, parties + 3);
  const twos = powers(2n, bits);
  const yPowers = powers(y, parties * bits);
  const squares = rounds.map((challenge) => reduced(challenge * challenge));
  const products = roundProducts(rounds);
  const delta =
    (z - zPowers[2]!) * sum(yPowers) - zPowers[3]! * sum(zPowers.slice(0, parties)) * sum(twos);
  const all = [...(points as RistrettoPoint[]), blindingBase, base];
  const scalars = [
    ...[1n, x, c * x, reduced(c * x) * x],
    ...squares,
    ...squares.map(inverse),
    ...zPowers.slice(2, parties + 2).map((power) => c * power),
    ...[-blinding - c * valueBlinding, w * (value - a * b) + c * (delta - value)],
  ];
  const yInverses = powers(inverse(y), parties * bits);
  for (let party = 0; party < parties; party += 1) {
    const at = party * bits;
    all.push(
      ...generatorsOf('G', party).slice(0, bits),
      ...generatorsOf('H', party).slice(0, bits),
    );
    scalars.push(...twos.map((_, bit) => -z - a * products[at + bit]!));
    for (const [bit, two] of twos.entries()) {
      const product = products[products.length - 1 - at - bit]!;
      const inner = reduced(zPowers[party + 2]! * two - b * product);
      scalars.push(z + yInverses[at + bit]! * inner);
    }
  }
  return (await sumOfProducts(all, scalars.map(reduced), yieldTurn)).equals(IDENTITY);
}
