/** Friends are other modules of the same address (docs/spec/verifier.md §3.7). */
import type { CompiledModule } from '../../move/modules/compiled.ts';
import { VmError } from '../status/vm-error.ts';

/** @throws VmError */
export function checkFriends({ friends, addresses, ...module }: CompiledModule): void {
  const self = module.moduleHandles[module.selfHandle]!;
  if (friends.some(({ address, name }) => address === self.address && name === self.name)) {
    throw new VmError('INVALID_FRIEND_DECL_WITH_SELF');
  }
  if (friends.some(({ address }) => addresses[address] !== addresses[self.address])) {
    throw new VmError('INVALID_FRIEND_DECL_WITH_MODULES_OUTSIDE_ACCOUNT_ADDRESS');
  }
}
