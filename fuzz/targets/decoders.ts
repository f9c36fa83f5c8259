/** Targets that are decoders in this process. An input is the decoder's number, then its bytes. */
import { MoveError } from '../../src/move/errors.ts';
import type { Random } from '../../test/random.ts';
import { Finding, mutate, type OpenTarget, type Target } from '../target.ts';

export interface Decoder {
  readonly name: string;
  /** Valid inputs, which are mutated. */
  readonly samples: (seed: number) => readonly Buffer[];
  /** @throws MoveError for bytes that it rejects, Finding for a bug */
  readonly run: (bytes: Buffer) => void | Promise<void>;
}

/** Maximum length of a mutated input, in bytes. */
const MAX_INPUT_BYTES = 64 * 1024;

/** @param isRefusal whether an error other than MoveError rejects the bytes */
export function decoderTarget(
  name: string,
  about: string,
  decoders: readonly Decoder[],
  isRefusal: (error: unknown) => boolean = () => false,
): Target {
  return {
    name,
    about,
    isGuided: true,
    open: async (seed) => openDecoders(decoders, seed, isRefusal),
  };
}

function openDecoders(
  decoders: readonly Decoder[],
  seed: number,
  isRefusal: (error: unknown) => boolean,
): OpenTarget {
  const samples = decoders.map(({ samples }) => samples(seed));
  let accepted = 0;
  const note = (error: unknown): void => {
    if (!(error instanceof MoveError) && !isRefusal(error)) throw error;
  };
  return {
    make(random: Random): Buffer {
      const which = random.below(decoders.length);
      const own = samples[which]!;
      const bytes = mutate(random.pick(own), random.pick(own), random);
      return Buffer.concat([Buffer.of(which), bytes.subarray(0, MAX_INPUT_BYTES)]);
    },
    run(input: Buffer): void | Promise<void> {
      const decoder = decoders[(input[0] ?? 0) % decoders.length]!;
      try {
        const done = decoder.run(Buffer.from(input.subarray(1)));
        if (done !== undefined) return done.catch(note);
        accepted += 1;
      } catch (error) {
        note(error);
      }
    },
    facts: () => ({ accepted }),
    close: async () => undefined,
  };
}

/** @throws Finding unless the decoded value encodes to the same bytes */
export function expectSameBytes(what: string, written: Uint8Array, read: Uint8Array): void {
  if (Buffer.compare(written, read) === 0) return;
  throw new Finding(`${what}: the bytes that were read are written as others`);
}
