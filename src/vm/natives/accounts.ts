/** Natives about addresses, signers and objects (docs/spec/vm.md §6.2). */
import { andThen } from '../../maybe-promise.ts';
import { ADDRESS_BYTES, type Address, addressBytes } from '../../move/types/address.ts';
import { primaryStoreOf } from '../../move/types/derived-address.ts';
import { type Native, NativeAbort, type NativeContext } from '../native.ts';
import { Reference } from '../value.ts';
import { addressOf, bytesOf, partsOf, referenced } from './arguments.ts';

const NOT_AN_ADDRESS = 2;
const PERMISSIONED_SIGNERS_DISABLED = 9;
const NOT_A_PERMISSIONED_SIGNER = 3;
const PERMISSIONED_SIGNER_FLAG = 84;

const createAddress: Native = (_, [value]) => {
  const bytes = bytesOf(value);
  if (bytes.length === ADDRESS_BYTES) return [addressOf(bytes)];
  const text =
    `Unable to create address from bytes, expected ${ADDRESS_BYTES} bytes, ` +
    `got ${bytes.length}`;
  return new NativeAbort(NOT_AN_ADDRESS, text);
};

const createSigner: Native = (_, [address]) => [[address]];

const borrowAddress: Native = (_, [signer]) => [new Reference(partsOf(referenced(signer)), 0)];

function withPermissionedSigners(native: Native): Native {
  return (context, args) =>
    context.world.isFeatureEnabled(PERMISSIONED_SIGNER_FLAG)
      ? native(context, args)
      : new NativeAbort(PERMISSIONED_SIGNERS_DISABLED);
}

const isPermissioned = withPermissionedSigners((_, [signer]) => [
  partsOf(referenced(signer)).length > 1,
]);

const permissionAddress = withPermissionedSigners((_, [signer]) => {
  const [, permissions] = partsOf(referenced(signer));
  return permissions === undefined ? new NativeAbort(NOT_A_PERMISSIONED_SIGNER) : [permissions];
});

const createPermissionedSigner = withPermissionedSigners((_, [account, permissions]) => [
  [account, permissions],
]);

const existsAt: Native = (context, [address]) =>
  andThen(
    context.resource(address as Address, context.typeArguments[0]!),
    ({ isPresent, loadedBytes }) => {
      const { gas } = context;
      if (loadedBytes !== undefined) {
        gas.charge(
          gas.prices.of('aptos_framework.object.exists_at.per_item_loaded') +
            gas.prices.of('aptos_framework.object.exists_at.per_byte_loaded') * loadedBytes,
        );
      }
      return [isPresent];
    },
  );

/** The address of a primary store is derived in the same way. */
const derivedObjectAddress: Native = (_: NativeContext, [source, deriveFrom]) => [
  addressOf(primaryStoreOf(addressBytes(source as Address), addressBytes(deriveFrom as Address))),
];

export const ACCOUNT_NATIVES: Readonly<Record<string, Native>> = {
  'account::create_address': createAddress,
  'account::create_signer': createSigner,
  'create_signer::create_signer': createSigner,
  'genesis::create_signer': createSigner,
  'signer::borrow_address': borrowAddress,
  'permissioned_signer::borrow_address': borrowAddress,
  'permissioned_signer::is_permissioned_signer': isPermissioned,
  'permissioned_signer::is_permissioned_signer_impl': isPermissioned,
  'permissioned_signer::permission_address': permissionAddress,
  'permissioned_signer::signer_from_permissioned_handle_impl': createPermissionedSigner,
  'object::exists_at': existsAt,
  'object::create_user_derived_object_address_impl': derivedObjectAddress,
};
