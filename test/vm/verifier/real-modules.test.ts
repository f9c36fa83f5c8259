/** Modules of real chains: all of them are verified and linked. */
import { describe, expect, it } from 'vitest';
import { genesisModules as sampleModules } from '../../../bench/bulk-ledger/framework/framework.ts';
import { type CompiledModule, moduleIdOf } from '../../../src/move/modules/compiled.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { checkMetadata } from '../../../src/vm/publish/metadata-check.ts';
import { checkLinks } from '../../../src/vm/publish/module-checks.ts';
import { genesisModules, genesisPresent, NETWORKS } from '../../move/modules/genesis-modules.ts';
import { frameworkBytecodes } from '../framework.ts';
import { verifyModule } from './verify-at-once.ts';

const LIMITS = { maxVersion: 10, maxIdentifierBytes: 65_535 };

/** Refused modules with their status, and the total number. */
function refused(bytecodes: readonly Uint8Array[]): { found: string[]; count: number } {
  const modules = bytecodes.map((bytes) => readModule(bytes, LIMITS));
  const keyOf = ({ address, name }: ReturnType<typeof moduleIdOf>) => `${address}::${name}`;
  const known = new Map<string, CompiledModule>(
    modules.map((module) => [keyOf(moduleIdOf(module)), module]),
  );
  const found: string[] = [];
  for (const module of modules) {
    try {
      verifyModule(module);
      checkLinks(module, (id) => known.get(keyOf(id)));
      checkMetadata(module);
    } catch (error) {
      found.push(`${moduleIdOf(module).name}: ${String(error)}`);
    }
  }
  return { found, count: modules.length };
}

describe('modules of real chains are verified', () => {
  it.skipIf(!genesisPresent).each(NETWORKS)(
    'genesis of %s (needs ../shared/genesis)',
    (network) => {
      const { found, count } = refused(genesisModules(network));
      expect(found).toEqual([]);
      expect(count).toBeGreaterThan(50);
    },
  );

  it('genesis of the sample, but for functions of public structs, which abort there', () => {
    const { found, count } = refused(sampleModules().map(({ bytes }) => bytes));
    const status = 'VmError: INVALID_STRUCT_API_CODE';
    expect(found.sort()).toEqual([`market: ${status}`, `result: ${status}`, `showcase: ${status}`]);
    expect(count).toBeGreaterThan(50);
  });

  it('genesis of the recorded chain', () => {
    const { found, count } = refused(frameworkBytecodes());
    expect(found).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });
});
