/**
 * Arguments of view functions as the virtual machine takes them: primitives as they are, texts and objects through
 * their constructors, which check them (docs/spec/transactions.md §9.3).
 */

import { isUtf8 } from 'node:buffer';
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { PRIMITIVE_BYTES } from '../../move/bcs/integers.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { OBJECT_CORE_TAG } from '../../move/types/framework-tag.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../../move/types/move-type.ts';
import { typeTagOf } from '../../move/types/move-type-tag.ts';
import type { World } from '../../vm/world.ts';
import { ViewError, vmError } from './view-error.ts';

/** Maximum number of structures in one argument that functions make; texts do not count. */
const MAX_CONSTRUCTED = 10;
/** Maximum number of values in one argument that are looked into, vectors included, bytes and integers not. */
const MAX_CHECKED_VALUES = 16_384;

/** Structures of one integer, which their modules make of it. */
const FIXED_POINT_BYTES: ReadonlyMap<string, { readonly module: string; readonly bytes: number }> =
  new Map([
    ['FixedPoint32', { module: 'fixed_point32', bytes: 8 }],
    ['FixedPoint64', { module: 'fixed_point64', bytes: 16 }],
  ]);

/**
 * Checks the arguments of a call. Structs other than those of the framework are not looked into.
 * @param location the function's module
 * @throws ViewError
 */
export async function checkArguments(
  types: readonly MoveType[],
  args: readonly Buffer[],
  location: ModuleId,
  world: World,
): Promise<void> {
  for (const [index, type] of types.entries()) {
    if (PRIMITIVE_BYTES.has(type.kind)) continue;
    try {
      await new ArgumentChecker(new BcsReader(args[index]!), location, world).argument(type);
    } catch (cause) {
      if (!(cause instanceof BcsError)) throw cause;
      throw vmError('FAILED_TO_DESERIALIZE_ARGUMENT', location);
    }
  }
  for (const [index, type] of types.entries()) checkPrimitive(type, args[index]!);
}

function checkPrimitive(type: MoveType, bytes: Buffer): void {
  const size = PRIMITIVE_BYTES.get(type.kind);
  if (size === undefined) return;
  if (bytes.length === size && (type.kind !== 'bool' || bytes[0]! <= 1)) return;
  throw new ViewError('[VM] failed to deserialize argument', 'FAILED_TO_DESERIALIZE_ARGUMENT');
}

class ArgumentChecker {
  readonly #reader: BcsReader;
  readonly #location: ModuleId;
  readonly #world: World;
  #structuresLeft = MAX_CONSTRUCTED;
  #valuesLeft = MAX_CHECKED_VALUES;

  constructor(reader: BcsReader, location: ModuleId, world: World) {
    this.#reader = reader;
    this.#location = location;
    this.#world = world;
  }

  async argument(type: MoveType): Promise<void> {
    if (await this.#check(type)) this.#reader.finish();
  }

  /** Reads a value. @returns false where it was not looked into, so that nothing behind it is known */
  async #check(type: MoveType): Promise<boolean> {
    const reader = this.#reader;
    const size = PRIMITIVE_BYTES.get(type.kind);
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
    if (isFramework(struct, 'option', 'Option')) return this.#option(struct);
    const fixedSize = FIXED_POINT_BYTES.get(struct.name);
    if (fixedSize !== undefined && isFramework(struct, fixedSize.module, struct.name)) {
      this.#construct();
      reader.skip(fixedSize.bytes);
      return true;
    }
    if (!isFramework(struct, 'object', 'Object')) return false;
    await this.#object(struct);
    return true;
  }

  async #vector(element: MoveType): Promise<boolean> {
    const reader = this.#reader;
    const count = reader.length(1);
    const size = PRIMITIVE_BYTES.get(element.kind);
    if (size !== undefined) {
      reader.skip(count * size);
      return true;
    }
    for (let index = 0; index < count; index += 1) {
      if (!(await this.#check(element))) return false;
    }
    return true;
  }

  /** Counts a structure that a function makes. */
  #construct(): void {
    if (this.#structuresLeft === 0) {
      throw vmError('FAILED_TO_DESERIALIZE_ARGUMENT', this.#location);
    }
    this.#structuresLeft -= 1;
  }

  /** `0x1::option::from_vec`: aborts with more than one value. */
  async #option({ typeArguments }: MoveStructTag): Promise<boolean> {
    this.#construct();
    const count = this.#reader.length(1);
    for (let index = 0; index < count; index += 1) {
      if (!(await this.#check(typeArguments[0]!))) return false;
    }
    if (count > 1) throw vmError('ABORTED', this.#location);
    return true;
  }

  /** `0x1::object::address_to_object`: aborts unless there is an object with such a resource. */
  async #object({ typeArguments }: MoveStructTag): Promise<void> {
    this.#construct();
    const address = this.#reader.address();
    const type = typeTagOf(typeArguments[0]!);
    const isObject =
      type.kind === 'struct' &&
      (await this.#world.resource(address, OBJECT_CORE_TAG)) !== undefined &&
      (await this.#world.resource(address, type.struct)) !== undefined;
    if (!isObject) throw vmError('ABORTED', this.#location);
  }
}

function isFramework({ address, module, name }: MoveStructTag, of: string, what: string): boolean {
  return name === what && module === of && address === ADDRESS_ONE;
}
