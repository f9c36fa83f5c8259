/**
 * The state of a simulation. Blocks have a randomness seed only when one of their transactions needs it, so the
 * reference simulates with a seed of its own (docs/spec/vm.md §6.5).
 */
import { randomBytes } from 'node:crypto';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import { isFrameworkStruct } from '../move/types/framework-tag.ts';
import type { World } from '../vm/world.ts';

const SEED_BYTES = 32;

/** A world whose newest block has a fresh random seed. */
export function worldWithSeed(world: World): World {
  const seed = randomBytes(SEED_BYTES);
  // `0x1::randomness::PerBlockRandomness`: epoch, round, seed.
  const resource = encodeBcs((writer) =>
    writer
      .u64(0n)
      .u64(0n)
      .option(seed, (_, bytes) => writer.bytes(bytes)),
  );
  return {
    modules: world.modules,
    nextTurn: () => world.nextTurn(),
    isFeatureEnabled: (flag) => world.isFeatureEnabled(flag),
    resource: (address, tag, onGroup) =>
      address === ADDRESS_ONE && isFrameworkStruct(tag, 'randomness', 'PerBlockRandomness')
        ? resource
        : world.resource(address, tag, onGroup),
    tableItem: (handle, key) => world.tableItem(handle, key),
  };
}
