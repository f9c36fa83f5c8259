/**
 * Arguments of view functions as the virtual machine takes them. Primitives are passed unchanged, strings and objects
 * through their constructors, which check them (docs/spec/transactions.md §9.3).
 */

import { isUtf8 } from 'node:buffer';
import { andThen, type MaybePromise, mapInOrder, settle } from '../maybe-promise.ts';
import { BcsError, BcsReader } from '../move/bcs/bcs-reader.ts';
import { PRIMITIVE_BYTES } from '../move/bcs/integers.ts';
import type { Address } from '../move/types/address.ts';
import { isFrameworkStruct, OBJECT_CORE_TAG } from '../move/types/framework-tag.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../move/types/move-type.ts';
import { typeTagOf } from '../move/types/move-type-tag.ts';
import type { TypeTag } from '../move/types/type-tag.ts';
import type { World } from '../vm/world.ts';
import { ViewError, vmError } from './view-error.ts';

/** Maximum number of structs in one argument that functions construct; strings do not count. */
const MAX_CONSTRUCTED = 10;
/** Maximum number of values checked in one argument; vectors count, bytes and integers do not. */
const MAX_CHECKED_VALUES = 16_384;

/** Structs of one integer, which their modules construct from it. */
const FIXED_POINT_BYTES: ReadonlyMap<string, { readonly module: string; readonly bytes: number }> =
  new Map([
    ['FixedPoint32', { module: 'fixed_point32', bytes: 8 }],
    ['FixedPoint64', { module: 'fixed_point64', bytes: 16 }],
  ]);

/**
 * Checks the arguments of a call. Structs other than those of the framework are not checked.
 * @param location the function's module
 * @throws ViewError; or rejects with it
 */
export function checkArguments(
  types: readonly MoveType[],
  args: readonly Buffer[],
  location: ModuleId,
  world: World,
): MaybePromise<void> {
  const checks = mapInOrder(types, (type, index) =>
    PRIMITIVE_BYTES.has(type.kind)
      ? undefined
      : new ArgumentChecker(args[index]!, location).check(type, world),
  );
  return andThen(checks, () => {
    for (let index = 0; index < types.length; index += 1) {
      checkPrimitive(types[index]!, args[index]!);
    }
  });
}

function checkPrimitive(type: MoveType, bytes: Buffer): void {
  const size = PRIMITIVE_BYTES.get(type.kind);
  if (size === undefined) return;
  if (bytes.length === size && (type.kind !== 'bool' || bytes[0]! <= 1)) return;
  throw new ViewError('[VM] failed to deserialize argument', 'FAILED_TO_DESERIALIZE_ARGUMENT');
}

interface ExpectedObject {
  readonly address: Address;
  readonly type: TypeTag;
}

class ArgumentChecker {
  readonly #reader: BcsReader;
  readonly #location: ModuleId;
  readonly #objects: ExpectedObject[] = [];
  #structuresLeft = MAX_CONSTRUCTED;
  #valuesLeft = MAX_CHECKED_VALUES;

  constructor(bytes: Buffer, location: ModuleId) {
    this.#reader = new BcsReader(bytes);
    this.#location = location;
  }

  /** @throws ViewError; or rejects with it */
  check(type: MoveType, world: World): MaybePromise<void> {
    return settle(
      () => {
        if (this.#check(type)) this.#reader.finish();
      },
      () => this.#checkObjects(world),
      // An error in an object is reported before an error in what follows it.
      (failure) =>
        andThen(this.#checkObjects(world), () => {
          if (!(failure instanceof BcsError)) throw failure;
          throw vmError('FAILED_TO_DESERIALIZE_ARGUMENT', this.#location);
        }),
    );
  }

  /** Reads a value. @returns false if it was not checked, so that what follows it is unknown */
  #check(type: MoveType): boolean {
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
    if (isFrameworkStruct(struct, 'string', 'String')) {
      if (!isUtf8(reader.bytes())) throw vmError('ABORTED', this.#location);
      return true;
    }
    if (isFrameworkStruct(struct, 'option', 'Option')) return this.#option(struct);
    const fixedSize = FIXED_POINT_BYTES.get(struct.name);
    if (fixedSize !== undefined && isFrameworkStruct(struct, fixedSize.module, struct.name)) {
      this.#construct();
      reader.skip(fixedSize.bytes);
      return true;
    }
    if (!isFrameworkStruct(struct, 'object', 'Object')) return false;
    this.#construct();
    this.#objects.push({ address: reader.address(), type: objectType(struct.typeArguments[0]!) });
    return true;
  }

  #vector(element: MoveType): boolean {
    const reader = this.#reader;
    const count = reader.length(1);
    const size = PRIMITIVE_BYTES.get(element.kind);
    if (size !== undefined) {
      reader.skip(count * size);
      return true;
    }
    return this.#checkAll(element, count);
  }

  #checkAll(type: MoveType, count: number): boolean {
    for (let index = 0; index < count; index += 1) {
      if (!this.#check(type)) return false;
    }
    return true;
  }

  /** Counts a struct that a function constructs. */
  #construct(): void {
    if (this.#structuresLeft === 0) {
      throw vmError('FAILED_TO_DESERIALIZE_ARGUMENT', this.#location);
    }
    this.#structuresLeft -= 1;
  }

  /** `0x1::option::from_vec`: aborts with more than one value. */
  #option({ typeArguments }: MoveStructTag): boolean {
    this.#construct();
    const count = this.#reader.length(1);
    if (!this.#checkAll(typeArguments[0]!, count)) return false;
    if (count > 1) throw vmError('ABORTED', this.#location);
    return true;
  }

  /** `0x1::object::address_to_object`: aborts unless an object with such a resource exists. */
  #checkObjects(world: World): MaybePromise<void> {
    const checks = mapInOrder(this.#objects, ({ address, type }) =>
      andThen(hasResources(world, address, type), (isObject) => {
        if (!isObject) throw vmError('ABORTED', this.#location);
      }),
    );
    return andThen(checks, () => undefined);
  }
}

/** Tags of the types of objects. A function that was called before has the same type instances. */
const objectTypes = new WeakMap<MoveType, TypeTag>();

function objectType(type: MoveType): TypeTag {
  let tag = objectTypes.get(type);
  if (tag === undefined) {
    tag = typeTagOf(type);
    objectTypes.set(type, tag);
  }
  return tag;
}

function hasResources(world: World, address: Address, type: TypeTag): MaybePromise<boolean> {
  if (type.kind !== 'struct') return false;
  return andThen(
    world.resource(address, OBJECT_CORE_TAG),
    (core) =>
      core !== undefined &&
      andThen(world.resource(address, type.struct), (resource) => resource !== undefined),
  );
}
