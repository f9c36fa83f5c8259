/**
 * Arguments of view functions as the virtual machine takes them: primitives as they are, texts and objects through
 * their constructors, which check them (docs/spec/transactions.md §9.3).
 */
import { isUtf8 } from 'node:buffer';
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { OBJECT_CORE_TAG } from '../../move/types/framework-tag.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../../move/types/move-type.ts';
import { typeTagOf } from '../../move/types/move-type-tag.ts';
import type { FrameworkState } from './framework-state.ts';
import { ViewError, vmError } from './view-error.ts';

/** Maximum number of objects in one argument. */
const MAX_OBJECTS = 10;
/** Maximum number of values in one argument that are looked into, vectors included, bytes and integers not. */
const MAX_CHECKED_VALUES = 16_384;

/** Sizes of primitive types in bytes. */
const SIZES: ReadonlyMap<MoveType['kind'], number> = new Map([
  ['bool', 1],
  ['u8', 1],
  ['i8', 1],
  ['u16', 2],
  ['i16', 2],
  ['u32', 4],
  ['i32', 4],
  ['u64', 8],
  ['i64', 8],
  ['u128', 16],
  ['i128', 16],
  ['u256', 32],
  ['i256', 32],
  ['address', 32],
]);

/**
 * Checks the arguments of a call. Structs other than String and Object are not looked into.
 * @param location the function's module
 * @throws ViewError
 */
export async function checkArguments(
  types: readonly MoveType[],
  args: readonly Buffer[],
  location: ModuleId,
  state: FrameworkState,
): Promise<void> {
  for (const [index, type] of types.entries()) {
    if (SIZES.has(type.kind)) continue;
    try {
      await new ArgumentChecker(new BcsReader(args[index]!), location, state).argument(type);
    } catch (cause) {
      if (!(cause instanceof BcsError)) throw cause;
      throw vmError('FAILED_TO_DESERIALIZE_ARGUMENT', location);
    }
  }
  for (const [index, type] of types.entries()) checkPrimitive(type, args[index]!);
}

function checkPrimitive(type: MoveType, bytes: Buffer): void {
  const size = SIZES.get(type.kind);
  if (size === undefined) return;
  if (bytes.length === size && (type.kind !== 'bool' || bytes[0]! <= 1)) return;
  throw new ViewError('[VM] failed to deserialize argument', 'FAILED_TO_DESERIALIZE_ARGUMENT');
}

class ArgumentChecker {
  readonly #reader: BcsReader;
  readonly #location: ModuleId;
  readonly #state: FrameworkState;
  #objectsLeft = MAX_OBJECTS;
  #valuesLeft = MAX_CHECKED_VALUES;

  constructor(reader: BcsReader, location: ModuleId, state: FrameworkState) {
    this.#reader = reader;
    this.#location = location;
    this.#state = state;
  }

  async argument(type: MoveType): Promise<void> {
    if (await this.#check(type)) this.#reader.finish();
  }

  /** Reads a value. @returns false where it was not looked into, so that nothing behind it is known */
  async #check(type: MoveType): Promise<boolean> {
    const reader = this.#reader;
    const size = SIZES.get(type.kind);
    if (size !== undefined) {
      reader.skip(size);
      return true;
    }
    if (this.#valuesLeft === 0) return false;
    this.#valuesLeft -= 1;
    if (type.kind === 'vector') return this.#vector(type.element);
    if (type.kind !== 'struct') throw vmError('INVALID_MAIN_FUNCTION_SIGNATURE', this.#location);
    const { struct } = type;
    if (isFramework(struct, 'string', 'String')) {
      if (!isUtf8(reader.bytes())) throw vmError('ABORTED', this.#location);
      return true;
    }
    if (!isFramework(struct, 'object', 'Object')) return false;
    await this.#object(struct);
    return true;
  }

  async #vector(element: MoveType): Promise<boolean> {
    const reader = this.#reader;
    const count = reader.length(1);
    const size = SIZES.get(element.kind);
    if (size !== undefined) {
      reader.skip(count * size);
      return true;
    }
    for (let index = 0; index < count; index += 1) {
      if (!(await this.#check(element))) return false;
    }
    return true;
  }

  /** `0x1::object::address_to_object`: aborts unless there is an object with such a resource. */
  async #object({ typeArguments }: MoveStructTag): Promise<void> {
    if (this.#objectsLeft === 0) throw vmError('FAILED_TO_DESERIALIZE_ARGUMENT', this.#location);
    this.#objectsLeft -= 1;
    const address = this.#reader.address();
    const type = typeTagOf(typeArguments[0]!);
    const isObject =
      (await this.#state.exists(address, OBJECT_CORE_TAG)) &&
      type.kind === 'struct' &&
      (await this.#state.exists(address, type.struct));
    if (!isObject) throw vmError('ABORTED', this.#location);
  }
}

function isFramework({ address, module, name }: MoveStructTag, of: string, what: string): boolean {
  return name === what && module === of && address === ADDRESS_ONE;
}
