/** A published module: its bytes, and its JSON and loaded form, each computed once. */
import { formatHex } from '../move/bcs/hex.ts';
import { AbiError, abiTooLarge, moduleAbiJson } from '../move/modules/abi.ts';
import {
  type CompiledModule,
  DEFAULT_LOADER_LIMITS,
  type LoaderLimits,
} from '../move/modules/compiled.ts';
import { BinaryFormatError } from '../move/modules/format.ts';
import { loadModule } from '../move/modules/read.ts';
import { LedgerError } from './ledger-error.ts';

/**
 * Memory of a module besides its bytes, as a multiple of them: hex, ABI text and loaded form (measured on the devnet
 * genesis: 9 to 14), and the checked code of its functions (2.5).
 */
export const MODULE_MEMORY_FACTOR = 18;

export class StoredModule {
  readonly bytes: Uint8Array;
  /** The version that wrote this module: with address and name it is a permanent identifier. */
  readonly writtenAtVersion: bigint;
  readonly #loaded = new Map<string, CompiledModule | BinaryFormatError>();
  #json: string | undefined;

  constructor(bytes: Uint8Array, writtenAtVersion: bigint) {
    this.bytes = bytes;
    this.writtenAtVersion = writtenAtVersion;
  }

  /**
   * `{"bytecode":"0x…","abi":{…}}` as JSON text; `abi` is null when the bytes do not load (docs/spec/http.md §8.2)
   * or the module is the one that the reference cannot print (docs/spec/move.md §6).
   * @throws LedgerError `internal_error` for an ABI above the size limit.
   */
  json(): string {
    this.#json ??= `{"bytecode":"${formatHex(this.bytes)}","abi":${this.#abiJson()}}`;
    return this.#json;
  }

  #abiJson(): string {
    try {
      return moduleAbiJson(this.load(DEFAULT_LOADER_LIMITS));
    } catch (cause) {
      if (cause instanceof BinaryFormatError) return 'null';
      if (!(cause instanceof AbiError)) throw cause;
      if (cause.code === 'option_without_value') return 'null';
      throw new LedgerError('internal_error', abiTooLarge().message, { cause });
    }
  }

  /** The loaded module. @throws BinaryFormatError */
  load(limits: LoaderLimits): CompiledModule {
    const key = `${limits.maxVersion} ${limits.maxIdentifierBytes}`;
    let loaded = this.#loaded.get(key);
    if (loaded === undefined) {
      loaded = this.#read(limits);
      this.#loaded.set(key, loaded);
    }
    if (loaded instanceof BinaryFormatError) throw loaded;
    return loaded;
  }

  #read(limits: LoaderLimits): CompiledModule | BinaryFormatError {
    try {
      return loadModule(this.bytes, limits);
    } catch (error) {
      if (error instanceof BinaryFormatError) return error;
      throw error;
    }
  }
}
