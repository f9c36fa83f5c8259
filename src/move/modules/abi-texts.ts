/**
 * Type texts of one binary's ABI: each signature and struct path is printed once (docs/spec/move.md §6).
 */

import { formatSignatureToken, formatStructPath } from '../types/move-type-text.ts';
import { abiTooLarge } from './abi-error.ts';
import type { BinaryTables, SignatureToken } from './compiled.ts';
import { structPathOfHandle } from './names.ts';

/** Prints the types of one loaded binary and stops when the struct paths alone exceed a limit. */
export class AbiTexts {
  readonly #binary: BinaryTables;
  readonly #structPaths = new Map<number, string>();
  readonly #signatures = new Map<number, readonly string[]>();
  readonly #maxChars: number;
  #printedChars = 0;

  constructor(binary: BinaryTables, maxChars: number) {
    this.#binary = binary;
    this.#maxChars = maxChars;
  }

  /** The text of one type. @throws AbiError `abi_too_large` */
  type(token: SignatureToken): string {
    return formatSignatureToken(token, (handle) => this.#structPath(handle));
  }

  /** The texts of a signature, the same array for every caller. @throws AbiError `abi_too_large` */
  signature(index: number): readonly string[] {
    let texts = this.#signatures.get(index);
    if (texts === undefined) {
      texts = this.#binary.signatures[index]!.map((token) => this.type(token));
      this.#signatures.set(index, texts);
    }
    return texts;
  }

  /** Counts every use: only paths print many characters for few bytes of the binary. */
  #structPath(handle: number): string {
    let path = this.#structPaths.get(handle);
    if (path === undefined) {
      const { module, name } = structPathOfHandle(this.#binary, handle);
      path = formatStructPath(module, name);
      this.#structPaths.set(handle, path);
    }
    this.#printedChars += path.length;
    if (this.#printedChars > this.#maxChars) throw abiTooLarge();
    return path;
  }
}
