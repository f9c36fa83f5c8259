/**
 * Arguments of a transaction as its function gets them. Structs of the framework are constructed by functions, which
 * run as code and are charged for (docs/spec/vm.md §8.1).
 */
import { isUtf8 } from 'node:buffer';
import { BcsError, BcsReader } from '../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import { PRIMITIVE_BYTES } from '../move/bcs/integers.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import type { MoveStructTag, MoveType } from '../move/types/move-type.ts';
import { typeTagOf } from '../move/types/move-type-tag.ts';
import type { Machine } from '../vm/machine/machine.ts';
import { runIn } from '../vm/machine/run.ts';
import { VmError } from '../vm/status/status.ts';
import type { Value } from '../vm/value.ts';
import { decodeValue, encodeValue } from '../vm/value-bcs.ts';

/** Maximum number of structs in one argument that functions construct; strings do not count. */
const MAX_CONSTRUCTED = 10;

/** Constructor functions, by module and name of the struct. */
const CONSTRUCTORS: ReadonlyMap<string, string> = new Map([
  ['object::Object', 'address_to_object'],
  ['option::Option', 'from_vec'],
  ['fixed_point32::FixedPoint32', 'create_from_raw_value'],
  ['fixed_point64::FixedPoint64', 'create_from_raw_value'],
]);
const U64: MoveType = { kind: 'u64' };
const U128: MoveType = { kind: 'u128' };
const ADDRESS: MoveType = { kind: 'address' };

function unreadableArgument(text?: string): VmError {
  return new VmError('FAILED_TO_DESERIALIZE_ARGUMENT', { text });
}

export function isArgumentType(type: MoveType): boolean {
  if (type.kind === 'vector') return isArgumentType(type.element);
  if (type.kind !== 'struct') return PRIMITIVE_BYTES.has(type.kind);
  const { address, module, name } = type.struct;
  const path = `${module}::${name}`;
  return address === ADDRESS_ONE && (path === 'string::String' || CONSTRUCTORS.has(path));
}

/** Whether a value of a type, or a part of it, is constructed by a function. */
export function isConstructed(type: MoveType): boolean {
  if (type.kind === 'vector') return isConstructed(type.element);
  if (type.kind !== 'struct') return false;
  const { address, module, name } = type.struct;
  return address === ADDRESS_ONE && CONSTRUCTORS.has(`${module}::${name}`);
}

/**
 * Builds a value from an argument's BCS; parts whose type has a constructor are built by it. Rejects with VmError.
 */
export async function constructArgument(
  machine: Machine,
  type: MoveType,
  argument: Uint8Array,
): Promise<Value> {
  const { program, meter } = machine;
  const bytes = PRIMITIVE_BYTES.has(type.kind)
    ? argument
    : await new ArgumentReader(machine, argument).read(type);
  const layout = await program.layout(program.type(typeTagOf(type)));
  await machine.chargeLayout(layout);
  try {
    return decodeValue(layout, bytes, meter);
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw unreadableArgument('[VM] failed to deserialize argument');
  }
}

class ArgumentReader {
  readonly #machine: Machine;
  readonly #reader: BcsReader;
  #left = MAX_CONSTRUCTED;

  constructor(machine: Machine, argument: Uint8Array) {
    this.#machine = machine;
    this.#reader = new BcsReader(Buffer.from(argument));
  }

  /** BCS of the argument, including what functions have constructed. */
  async read(type: MoveType): Promise<Uint8Array> {
    const writer = new BcsWriter();
    try {
      await this.#write(type, writer);
    } catch (error) {
      if (!(error instanceof BcsError)) throw error;
      throw unreadableArgument("Couldn't read bytes");
    }
    if (this.#reader.remaining > 0) {
      throw unreadableArgument('The serialized arguments to constructor contained extra data');
    }
    return writer.view();
  }

  async #write(type: MoveType, writer: BcsWriter): Promise<void> {
    const size = PRIMITIVE_BYTES.get(type.kind);
    if (size !== undefined) writer.fixed(this.#reader.fixed(size));
    else if (type.kind === 'vector') await this.#vector(type.element, writer);
    else if (type.kind === 'struct') await this.#struct(type.struct, writer);
  }

  async #vector(element: MoveType, writer: BcsWriter): Promise<void> {
    const count = this.#reader.uleb32();
    writer.uleb32(count);
    const size = PRIMITIVE_BYTES.get(element.kind);
    if (size !== undefined) writer.fixed(this.#reader.fixed(count * size));
    else for (let index = 0; index < count; index += 1) await this.#write(element, writer);
  }

  async #struct(struct: MoveStructTag, writer: BcsWriter): Promise<void> {
    const { module, name, typeArguments } = struct;
    if (name === 'String') {
      this.#text(writer);
      return;
    }
    if (this.#left === 0) throw unreadableArgument();
    this.#left -= 1;
    const { program, meter } = this.#machine;
    const id = { address: ADDRESS_ONE, name: module };
    const target = await program.function(id, CONSTRUCTORS.get(`${module}::${name}`)!);
    const types = typeArguments.map((type) => program.type(typeTagOf(type)));
    const parameter = parameterOf(struct);
    const bytes = new BcsWriter();
    await this.#write(parameter, bytes);
    const layout = await program.layout(program.type(typeTagOf(parameter)));
    const args = [decodeValue(layout, bytes.view(), meter)];
    const results = await runIn(this.#machine, { function: target, typeArguments: types, args });
    const constructed = results[0];
    this.#machine.stack.length = 0;
    const type = program.type(typeTagOf({ kind: 'struct', struct }));
    writer.fixed(encodeValue(await program.layout(type), constructed, meter));
  }

  #text(writer: BcsWriter): void {
    const { remaining, offset } = this.#reader;
    const length = this.#reader.uleb32();
    if (length > remaining - (this.#reader.offset - offset)) {
      throw unreadableArgument('String argument is too long');
    }
    const bytes = this.#reader.fixed(length);
    if (!isUtf8(bytes)) throw notUtf8();
    writer.bytes(bytes);
  }
}

/** `0x1::string::utf8` is not run. */
function notUtf8(): VmError {
  const module = { address: ADDRESS_ONE, name: 'string' };
  const error = new VmError('ABORTED', { subStatus: 1n });
  return error.at({ module, functionDefinition: 0, codeOffset: 0 });
}

function parameterOf({ name, typeArguments }: MoveStructTag): MoveType {
  switch (name) {
    case 'Object':
      return ADDRESS;
    case 'Option':
      return { kind: 'vector', element: typeArguments[0]! };
    default:
      return name === 'FixedPoint32' ? U64 : U128;
  }
}
