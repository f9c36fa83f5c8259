/** The check of code (docs/spec/vm.md §3): all code of real chains passes. */
import { describe, expect, it } from 'vitest';
import { functionNameOfHandle, moduleIdOf } from '../../src/move/modules/compiled.ts';
import { modulesFrom } from '../../src/move/modules/module-set.ts';
import { readModule } from '../../src/move/modules/read.ts';
import { functionCode } from '../../src/vm/code/function-code.ts';
import { Program } from '../../src/vm/program/program.ts';
import { genesisModules, genesisPresent, NETWORKS } from '../move/modules/genesis-modules.ts';

const LIMITS = { maxVersion: 10, maxIdentifierBytes: 65_535 };

function settled<T>(value: T | Promise<T>): T {
  if (value instanceof Promise) throw new Error('answered later');
  return value;
}

/** Functions whose code is refused, and the number of checked functions. */
function checked(modules: readonly Uint8Array[]): { refused: string[]; count: number } {
  const refused: string[] = [];
  let count = 0;
  for (const bytes of modules) {
    const module = readModule(bytes, LIMITS);
    module.functionDefinitions.forEach(({ isNative, handle }, definition) => {
      if (isNative) return;
      count += 1;
      try {
        functionCode(module, definition);
      } catch (error) {
        const name = `${moduleIdOf(module).name}::${functionNameOfHandle(module, handle)}`;
        refused.push(`${name}: ${String(error)}`);
      }
    });
  }
  return { refused, count };
}

describe('code of real modules', () => {
  it.skipIf(!genesisPresent).each(NETWORKS)(
    'genesis of %s (needs ../shared/genesis)',
    (network) => {
      const { refused, count } = checked(genesisModules(network));
      expect(refused).toEqual([]);
      expect(count).toBeGreaterThan(500);
    },
  );

  it.skipIf(!genesisPresent).each(NETWORKS)(
    'links, genesis of %s (needs ../shared/genesis)',
    (network) => {
      const lookup = modulesFrom(genesisModules(network), LIMITS);
      const program = new Program(lookup);
      const wrong: string[] = [];
      for (const bytes of genesisModules(network)) {
        const compiled = readModule(bytes, LIMITS);
        const module = settled(program.module(moduleIdOf(compiled)));
        compiled.functionHandles.forEach((handle, index) => {
          try {
            settled(program.link(module, index));
          } catch (error) {
            wrong.push(`${module.id.name} ${compiled.identifiers[handle.name]!}: ${String(error)}`);
          }
        });
      }
      expect(wrong).toEqual([]);
    },
  );

  it.skipIf(!genesisPresent).each(NETWORKS)(
    'layouts, genesis of %s (needs ../shared/genesis)',
    (network) => {
      const program = new Program(modulesFrom(genesisModules(network), LIMITS));
      for (const bytes of genesisModules(network)) {
        const compiled = readModule(bytes, LIMITS);
        const module = settled(program.module(moduleIdOf(compiled)));
        compiled.structDefinitions.forEach((definition, index) => {
          const { typeParameters } = compiled.structHandles[definition.handle]!;
          if (definition.kind === 'native' || typeParameters.length > 0) return;
          expect(settled(program.layout(program.definedStruct(module, index))).kind).toBe(
            definition.kind,
          );
        });
      }
    },
  );
});
