/** The interface of targets, and the findings that they throw. */
import type { Random } from '../test/random.ts';

/** Something that must not happen; its input is written to a file. */
export class Finding extends Error {
  override readonly name = 'Finding';
  /** The failing input, if it was only identified after many inputs. */
  readonly input: Buffer | undefined;

  constructor(message: string, input?: Buffer) {
    super(message);
    this.input = input;
  }
}

/** A part of the program that receives input. */
export interface Target {
  readonly name: string;
  /** Its kinds of input, in a few words. */
  readonly about: string;
  /** Whether inputs that reach new code are mutated further. Absent: the code runs in another process. */
  readonly isGuided?: boolean;
  /** @param seed decides everything that is random */
  open(seed: number): Promise<OpenTarget>;
}

export interface OpenTarget {
  /** Number of concurrent inputs; 1 when absent. */
  readonly parallel?: number;
  /** A new input. */
  make(random: Random): Buffer;
  /** @throws Finding, or whatever the code should not throw */
  run(input: Buffer): void | Promise<void>;
  /**
   * Called now and then, for checks of another process that need many inputs.
   * @param isReplay only one input was run, and everything is checked
   * @throws Finding
   */
  check?(isReplay: boolean): Promise<void>;
  /** Figures for the report. */
  facts?(): Readonly<Record<string, number | string>>;
  close(): Promise<void>;
}

/**
 * Mutates an input: flips bits, replaces, removes, repeats or inserts bytes, mixes in parts of another input, or
 * truncates.
 */
export function mutate(original: Buffer, other: Buffer, random: Random): Buffer {
  const { below } = random;
  let bytes = Buffer.from(original);
  for (let left = 1 + below(4); left > 0; left -= 1) {
    if (bytes.length === 0) return random.bytes(1 + below(16));
    const at = below(bytes.length);
    const end = Math.min(bytes.length, at + 1 + below(1 << below(8)));
    switch (below(9)) {
      case 0:
        bytes[at]! ^= 1 << below(8);
        break;
      case 1:
        bytes[at] = below(256);
        break;
      case 2:
        bytes[at] = random.pick([0x00, 0x01, 0x7f, 0x80, 0xff]);
        break;
      case 3:
        bytes[at] = (bytes[at]! + random.pick([1, 255])) & 0xff;
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
        break;
      case 5:
        bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
        break;
      case 6:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          random.bytes(1 + below(8)),
          bytes.subarray(at),
        ]);
        break;
      case 7: {
        const from = below(Math.max(1, other.length));
        const part = other.subarray(from, from + 1 + below(64));
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          part,
          bytes.subarray(below(2) === 0 ? at : end),
        ]);
        break;
      }
      default:
        if (below(4) === 0) bytes = bytes.subarray(0, at);
    }
  }
  return bytes;
}
