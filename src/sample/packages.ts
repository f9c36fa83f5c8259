/** Publications of packages, by `0x1::code::publish_package_txn`. */
import { type BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { EntryFunction } from '../move/transactions/executable.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import type { AssembledModule } from './assembler/assemble.ts';
import { callsOf } from './calls.ts';

/** Upgrades must stay compatible. */
const COMPATIBLE_POLICY = 1;

const publish = callsOf('0x1::code::publish_package_txn');

export function publication(
  name: string,
  modules: readonly AssembledModule[],
  policy = COMPATIBLE_POLICY,
): EntryFunction {
  const none = Buffer.alloc(0);
  const metadata = encodeBcs((writer: BcsWriter) => {
    // The framework counts the upgrades. The digest of the sources and the manifest are left empty.
    writer.string(name).u8(policy).u64(0).string('').bytes(none);
    writer.vector(modules, (to, module) => to.string(module.name).bytes(none).bytes(none).u8(0));
    writer.vector(['AptosFramework', 'AptosStdlib', 'MoveStdlib'], (to, one) =>
      to.address(ADDRESS_ONE).string(one),
    );
    writer.u8(0);
  });
  return publish(
    (to) => to.bytes(metadata),
    (to) => to.vector(modules, (inner, { bytes }) => inner.bytes(bytes)),
  );
}
