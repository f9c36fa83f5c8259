/**
 * Transcripts of Merlin 1.0, from which a verifier draws the challenges that the prover drew: STROBE-128
 * (strobe.sourceforge.io/specs, version 1.0.2), of which only what Merlin uses is here.
 */
import { keccakP } from '@noble/hashes/sha3.js';
import { integerOfBytes } from './integers.ts';

/** Bytes of the state that data goes into. */
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

  /** A number that is to be reduced by the order of a group. */
  challenge(label: string): bigint {
    return integerOfBytes(this.challengeBytes(label, WIDE_BYTES));
  }

  /** A label and the length of what follows are one operation. */
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
