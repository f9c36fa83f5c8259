/**
 * The packages in which the framework is published. They are listed here because bytecode does not name its package,
 * and packages of users name those that they depend on (docs/spec/genesis.md §7).
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { Address } from '../../move/types/address.ts';
import { padAddress } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';

interface FrameworkPackage {
  readonly name: string;
  readonly address: Address;
  /** Absent for all modules of the address that no earlier package has. */
  readonly modules?: ReadonlySet<string>;
  readonly dependencies: readonly string[];
}

function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

const MOVE_STDLIB = names(`
  acl bcs bit_vector cmp error features fixed_point32 hash mem option reflect result signer
  string vector
`);

const APTOS_STDLIB = names(`
  any aptos_hash bcs_stream big_vector bls12381 bls12381_algebra bn254_algebra capability
  comparator copyable_any crypto_algebra debug ed25519 federated_keyless fixed_point64 from_bcs
  keyless math64 math128 math_fixed math_fixed64 multi_ed25519 multi_key pool_u64
  pool_u64_unbound ristretto255 ristretto255_bulletproofs ristretto255_elgamal
  ristretto255_pedersen secp256k1 secp256r1 simple_map single_key smart_table smart_vector
  storage_slots_allocator string_utils table table_with_length type_info
`);

const [ONE, THREE, FOUR] = [padAddress('1'), padAddress('3'), padAddress('4')];

/** In dependency order. */
const PACKAGES: readonly FrameworkPackage[] = [
  { name: 'MoveStdlib', address: ONE, modules: MOVE_STDLIB, dependencies: [] },
  { name: 'AptosStdlib', address: ONE, modules: APTOS_STDLIB, dependencies: ['MoveStdlib'] },
  { name: 'AptosFramework', address: ONE, dependencies: ['AptosStdlib', 'MoveStdlib'] },
  { name: 'AptosToken', address: THREE, dependencies: ['AptosFramework', 'MoveStdlib'] },
  { name: 'AptosTokenObjects', address: FOUR, dependencies: ['AptosFramework', 'MoveStdlib'] },
];

/** Upgrade policy: upgrades must be compatible. */
const COMPATIBLE = 1;

/** Metadata of a package in `0x1::code`. */
export interface PackageMetadata {
  readonly address: Address;
  /** BCS of PackageMetadata, without sources, which are not available. */
  readonly bytes: Buffer;
}

export function packagesOf(modules: readonly ModuleId[]): PackageMetadata[] {
  const left = new Set(modules);
  const found: PackageMetadata[] = [];
  for (const { name, address, modules: named, dependencies } of PACKAGES) {
    const own = [...left].filter(
      (id) => id.address === address && (named === undefined || named.has(id.name)),
    );
    for (const id of own) left.delete(id);
    if (own.length > 0) found.push({ address, bytes: metadataOf(name, own, dependencies) });
  }
  if (left.size > 0) throw new RangeError('modules of no package');
  return found;
}

function metadataOf(
  name: string,
  modules: readonly ModuleId[],
  dependencies: readonly string[],
): Buffer {
  const moduleNames = modules.map((id) => id.name).sort();
  return encodeBcs((writer) => {
    // Name, policy, number of upgrades; empty digest of sources and empty manifest.
    writer.string(name).u8(COMPATIBLE).u64(0).string('').bytes(Buffer.alloc(0));
    // Modules without source, source map or extension.
    writer.vector(moduleNames, (to, one) =>
      to.string(one).bytes(Buffer.alloc(0)).bytes(Buffer.alloc(0)).u8(0),
    );
    writer.vector(dependencies, (to, one) => to.address(ONE).string(one));
    writer.u8(0);
  });
}
