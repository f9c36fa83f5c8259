/** Compiled modules from files, in place of those of a ledger. */
import { readFileSync } from 'node:fs';
import { type CompiledModule, moduleIdOf } from '../../../move/modules/compiled.ts';
import { BinaryFormatError } from '../../../move/modules/format.ts';
import { readModule } from '../../../move/modules/read.ts';
import { hashedStateKey, moduleStateKey } from '../../../move/types/state-key.ts';
import { type OverlaidWrite, Overlay } from '../../../state/overlay.ts';
import { VmError } from '../../../vm/status/status.ts';
import { moduleChecks } from '../../../vm/verifier/verify.ts';
import { NodeError } from '../../node-error.ts';

/**
 * An overlay that has the modules at every version. Each is verified, but not whether it fits those that it uses.
 * @returns `undefined` for no files @throws NodeError `bad_input`
 */
export function overlayOfModules(files: readonly string[]): Overlay | undefined {
  if (files.length === 0) return undefined;
  return Overlay.EMPTY.with({ writes: files.map(writeOf) });
}

function writeOf(file: string): OverlaidWrite {
  const bytes = bytesOf(file);
  const { address, name } = moduleIdOf(verified(file, bytes));
  const key = hashedStateKey(moduleStateKey(address, name));
  const entry = { version: 0n, bytes, metadata: undefined, deletedKey: undefined };
  return { hash: key.hash, physical: Buffer.from(key.physical), entry };
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new NodeError('bad_input', `cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
}

function verified(file: string, bytes: Buffer): CompiledModule {
  try {
    const module = readModule(bytes);
    for (const _ of moduleChecks(module));
    return module;
  } catch (cause) {
    if (!(cause instanceof BinaryFormatError || cause instanceof VmError)) throw cause;
    throw new NodeError('bad_input', `${file} is no module that can run: ${cause.message}`, {
      cause,
    });
  }
}
