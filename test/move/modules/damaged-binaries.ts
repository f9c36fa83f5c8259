/** Requirements for every binary, damaged or not: it either loads and can be encoded again, or is refused. */
import { deepStrictEqual } from 'node:assert/strict';
import { AbiError, moduleAbiJson } from '../../../src/move/modules/abi.ts';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { resourceGroupOf } from '../../../src/move/modules/metadata.ts';
import { readModule, readScript } from '../../../src/move/modules/read.ts';
import { writeModule, writeScript } from './write-module.ts';

/** Loads, renders and encodes a module; returns whether it loads. */
export function survivesAsModule(bytes: Buffer): boolean {
  const module = refusedOr(() => readModule(bytes));
  if (module === undefined) return false;
  for (const name of module.identifiers) resourceGroupOf(module, name);
  refusedOr(() => moduleAbiJson(module));
  if (module.version >= 5) deepStrictEqual(readModule(writeModule(module)), canonical(module));
  return true;
}

export function survivesAsScript(bytes: Buffer): boolean {
  const script = refusedOr(() => readScript(bytes));
  if (script === undefined) return false;
  if (script.version >= 5) deepStrictEqual(readScript(writeScript(script)), canonical(script));
  return true;
}

function canonical<T extends { readonly version: number }>(binary: T): T {
  const { version } = binary;
  return { ...binary, versionWord: version >= 7 ? 0x0a000000 + version : version };
}

function refusedOr<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof BinaryFormatError || error instanceof AbiError) return undefined;
    throw error;
  }
}
