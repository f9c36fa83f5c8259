/** Natives of `0x1::type_info` (docs/spec/vm.md §6.2). */
import { andThen } from '../../maybe-promise.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { CHAIN_ID_TAG } from '../../move/types/framework-tag.ts';
import { formatTypeTag } from '../../move/types/type-tag.ts';
import { type Native, NativeAbort } from '../native.ts';
import { VmError } from '../status/vm-error.ts';
import { byteVector, stringOf } from './arguments.ts';

const NOT_A_STRUCT = 1;

const typeOf: Native = ({ typeArguments, meter }) => {
  const { tag } = typeArguments[0]!;
  if (tag.kind !== 'struct') {
    return new NativeAbort(NOT_A_STRUCT, `Expected a struct type, found: ${tag.kind}`);
  }
  const { address, module, name, typeArguments: parts } = tag.struct;
  const inner = parts.length === 0 ? '' : `<${parts.map(formatTypeTag).join(', ')}>`;
  return [
    [
      address,
      byteVector(meter, byteTools.utf8Bytes(module)),
      byteVector(meter, byteTools.utf8Bytes(name + inner)),
    ],
  ];
};

const typeName: Native = ({ typeArguments, meter }) => {
  const name = formatTypeTag(typeArguments[0]!.tag);
  return [stringOf(meter, name)];
};

const chainId: Native = ({ world }) =>
  andThen(world.resource(ADDRESS_ONE, CHAIN_ID_TAG), (bytes) => {
    if (bytes?.length !== 1) throw new VmError('VM_EXTENSION_ERROR', { text: 'no chain id' });
    return [bytes[0]!];
  });

export const TYPE_NATIVES: Readonly<Record<string, Native>> = {
  'type_info::type_of': typeOf,
  'type_info::type_name': typeName,
  'type_info::chain_id_internal': chainId,
};
