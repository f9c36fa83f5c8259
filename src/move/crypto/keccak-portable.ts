/**
 * SHA3-256 of any input without Node and without WebAssembly, which a page's content security policy may forbid
 * (FIPS 202). A lane is two numbers of 32 bits: five times as fast as bigints.
 */
import { byteTools } from '../bcs/bytes.ts';
import {
  at,
  DIGEST_BYTES,
  LANES,
  PADDING_FIRST,
  PADDING_LAST,
  PLACES,
  RATE_BYTES,
  rotations,
  roundConstants,
} from './keccak-constants.ts';

/** Words of 32 bits in a lane, in a row of five lanes and in the state; the lower word of a lane comes first. */
const LANE_WORDS = 2;
const ROW_WORDS = 5 * LANE_WORDS;
const STATE_WORDS = LANES * LANE_WORDS;

/** Steps ρ and π: where each lane goes, and by how many bits it is rotated. */
const bitsOf = rotations();
const MOVES = PLACES.map(({ x, y }) => ({
  from: LANE_WORDS * at(x, y),
  to: LANE_WORDS * at(y, (2 * x + 3 * y) % 5),
  bits: bitsOf[at(x, y)]!,
}));
const ROUND_WORDS = roundConstants().map((constant) => ({
  low: Number(BigInt.asIntN(32, constant)),
  high: Number(BigInt.asIntN(32, constant >> 32n)),
}));

/** The upper word of a rotation by fewer than 32 bits; the lower one with the words exchanged. */
function rotated(high: number, low: number, bits: number): number {
  // A shift by 32 bits would be one by 0.
  return bits === 0 ? high : (high << bits) | (low >>> (32 - bits));
}

function permute(state: Int32Array): void {
  const parity = new Int32Array(ROW_WORDS);
  const moved = new Int32Array(STATE_WORDS);
  for (const { low, high } of ROUND_WORDS) {
    parity.fill(0);
    for (let word = 0; word < STATE_WORDS; word += 1) parity[word % ROW_WORDS]! ^= state[word]!;
    for (let word = 0; word < STATE_WORDS; word += 1) {
      const column = word % ROW_WORDS;
      const next = (column + LANE_WORDS) % ROW_WORDS;
      const mixed = rotated(parity[next]!, parity[next ^ 1]!, 1);
      state[word]! ^= parity[(column + ROW_WORDS - LANE_WORDS) % ROW_WORDS]! ^ mixed;
    }
    for (const { from, to, bits } of MOVES) {
      const exchange = bits < 32 ? 0 : 1;
      const lower = state[from + exchange]!;
      const upper = state[from + 1 - exchange]!;
      moved[to] = rotated(lower, upper, bits % 32);
      moved[to + 1] = rotated(upper, lower, bits % 32);
    }
    for (let word = 0; word < STATE_WORDS; word += 1) {
      const column = word % ROW_WORDS;
      const row = word - column;
      const first = moved[row + ((column + LANE_WORDS) % ROW_WORDS)]!;
      const second = moved[row + ((column + 2 * LANE_WORDS) % ROW_WORDS)]!;
      state[word] = moved[word]! ^ (~first & second);
    }
    state[0]! ^= low;
    state[1]! ^= high;
  }
}

/** SHA3-256, in a new buffer. */
export function portableSha3(bytes: Uint8Array): Buffer {
  const blocks = Math.floor(bytes.length / RATE_BYTES) + 1;
  const padded = new Uint8Array(blocks * RATE_BYTES);
  padded.set(bytes);
  padded[bytes.length] = PADDING_FIRST;
  padded[padded.length - 1]! |= PADDING_LAST;
  const input = new DataView(padded.buffer);
  const state = new Int32Array(STATE_WORDS);
  for (let start = 0; start < padded.length; start += RATE_BYTES) {
    for (let word = 0; 4 * word < RATE_BYTES; word += 1) {
      state[word]! ^= input.getInt32(start + 4 * word, true);
    }
    permute(state);
  }
  const digest = byteTools.allocate(DIGEST_BYTES);
  const output = new DataView(digest.buffer, digest.byteOffset, DIGEST_BYTES);
  for (let word = 0; 4 * word < DIGEST_BYTES; word += 1) {
    output.setInt32(4 * word, state[word]!, true);
  }
  return digest;
}
