/**
 * Natives of `0x1::table` (docs/spec/vm.md §6.4). `table_with_length` and all other maps on state are Move code on top
 * of it. Changes of a run are visible only to the rest of that run.
 */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import type { Address } from '../../move/types/address.ts';
import { type Native, NativeAbort, type NativeContext, type NativeResult } from '../native.ts';
import type { VmType } from '../program/vm-type.ts';
import { Reference, type StoredPlace, type Value } from '../value.ts';
import { decodeValue, encodeValue } from '../value-bcs.ts';
import type { Session } from '../world.ts';
import { partsOf, referenced } from './arguments.ts';
import { sessionAddress } from './transactions.ts';

const ALREADY_EXISTS = 0x6407;
const NOT_FOUND = 0x6507;

/** An item that a run for a transaction has accessed. */
interface AccessedItem {
  readonly handle: Address;
  readonly key: Buffer;
  type: VmType;
  /** Empty if the run has removed the item. */
  readonly place: readonly Value[];
  readonly stored: StoredPlace;
}

interface StoredItem extends StoredPlace {
  chargedSession: Session | undefined;
}

/** The places of the items that a run has accessed, by handle and key; empty for a missing item. */
export class TableItems {
  readonly places = new Map<string, Value[]>();
  readonly stored = new Map<Value[], StoredItem>();
  /** Items that a run for a transaction accessed, in reading order; none in a view. */
  readonly accessed: AccessedItem[] = [];
}

class NewTables {
  count = 0;
}

/** The place of an item, which is also shown to observers. */
function placeOf(
  context: NativeContext,
  table: Value,
  key: Value,
  keyPrice: string,
): MaybePromise<Value[]> {
  const { observer, run, typeArguments } = context;
  const found = loadPlace(context, table, key, keyPrice);
  if (observer?.item === undefined) return found;
  return andThen(found, (place) => {
    const handle = partsOf(referenced(table))[0] as Address;
    const [keyType, valueType] = typeArguments as readonly [VmType, VmType];
    observer.item?.(run!, { handle, key, keyType, valueType, place });
    return place;
  });
}

/**
 * @param table a reference to a table, whose only field is its handle
 * @param keyPrice the price of a byte of the key
 */
function loadPlace(
  context: NativeContext,
  table: Value,
  key: Value,
  keyPrice: string,
): MaybePromise<Value[]> {
  const { gas, meter, program, session, typeArguments, world } = context;
  const handle = partsOf(referenced(table))[0] as Address;
  const { places, accessed, stored } = context.extensions.of(TableItems);
  return andThen(program.layout(typeArguments[0]!), (keyLayout) => {
    const keyBytes = encodeValue(keyLayout, key, meter);
    const id = handle + byteTools.latin1Text(byteTools.asBuffer(keyBytes), 0, keyBytes.length);
    const known = places.get(id);
    gas.charge(gas.prices.of(keyPrice) * keyBytes.length);
    if (known !== undefined) {
      const item = stored.get(known)!;
      if (item.chargedSession !== session) gas.chargeTableRead(item.bytes);
      item.chargedSession = session;
      return known;
    }
    return andThen(world.tableItem(handle, keyBytes), (bytes) => {
      gas.chargeTableRead(bytes?.length);
      return andThen(bytes && program.layout(typeArguments[2]!), (layout) => {
        const place = [layout && decodeValue(layout, bytes!, meter, program)];
        places.set(id, place);
        const item = {
          isAssigned: false,
          isAggregated: false,
          bytes: bytes?.length,
          chargedSession: session,
        };
        stored.set(place, item);
        if (session !== undefined) {
          const type = typeArguments[2]!;
          accessed.push({ handle, key: keyBytes, type, place, stored: item });
        }
        return place;
      });
    });
  });
}

const newHandle: Native = (context) => {
  const newTables = context.sessionExtensions.of(NewTables);
  const handle = sessionAddress(context, newTables.count);
  newTables.count += 1;
  return [handle];
};

const addBox: Native = (context, [table, key, value]) =>
  andThen(
    placeOf(context, table, key, 'table.add_box.per_byte_serialized'),
    (place): NativeResult => {
      if (place[0] !== undefined) return new NativeAbort(ALREADY_EXISTS);
      place[0] = value;
      context.extensions.of(TableItems).stored.get(place)!.isAssigned = true;
      return [];
    },
  );

const borrowBox: Native = (context, [table, key]) =>
  andThen(
    placeOf(context, table, key, 'table.borrow_box.per_byte_serialized'),
    (place): NativeResult =>
      place[0] === undefined
        ? new NativeAbort(NOT_FOUND)
        : [new Reference(place, 0, context.extensions.of(TableItems).stored.get(place))],
  );

const removeBox: Native = (context, [table, key]) =>
  andThen(
    placeOf(context, table, key, 'table.remove_box.per_byte_serialized'),
    (place): NativeResult => {
      const value = place[0];
      if (value === undefined) return new NativeAbort(NOT_FOUND);
      place[0] = undefined;
      return [value];
    },
  );

const containsBox: Native = (context, [table, key]) =>
  andThen(placeOf(context, table, key, 'table.contains_box.per_byte_serialized'), (place) => [
    place[0] !== undefined,
  ]);

const noop: Native = () => [];

export const TABLE_NATIVES: Readonly<Record<string, Native>> = {
  'table::new_table_handle': newHandle,
  'table::add_box': addBox,
  'table::borrow_box': borrowBox,
  'table::borrow_box_mut': borrowBox,
  'table::remove_box': removeBox,
  'table::contains_box': containsBox,
  'table::destroy_empty_box': noop,
  'table::drop_unchecked_box': noop,
};
