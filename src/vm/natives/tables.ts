/**
 * Natives of `0x1::table` (docs/spec/vm.md §6.4). `table_with_length` and all other maps on state are Move code above
 * it. What a run changes is seen by the rest of the run only.
 */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import type { Address } from '../../move/types/address.ts';
import { type Native, NativeAbort, type NativeContext, type NativeResult } from '../native.ts';
import type { VmType } from '../program/vm-type.ts';
import { Reference, type Value } from '../value.ts';
import { decodeValue, encodeValue } from '../values/bcs.ts';
import { partsOf, referenced } from './arguments.ts';
import { sessionAddress } from './session.ts';

const ALREADY_EXISTS = 0x6407;
const NOT_FOUND = 0x6507;

/** An item that a run for a transaction has looked at. */
interface SeenItem {
  readonly handle: Address;
  /** BCS. */
  readonly key: Buffer;
  /** The type of the stored value. */
  readonly type: VmType;
  /** Without a value where there is none any more. */
  readonly place: readonly Value[];
  /** Its BCS before the run. */
  readonly before: Uint8Array | undefined;
}

/** The places of the items that a run has looked at, by handle and key; a place is empty where there is no item. */
export class TableItems {
  readonly places = new Map<string, Value[]>();
  /** Those of a run for a transaction, in the order in which they were read; none in a view. */
  readonly seen: SeenItem[] = [];
  newTables = 0;
}

function itemsOf({ extensions }: NativeContext): TableItems {
  let items = extensions.get(TableItems) as TableItems | undefined;
  if (items === undefined) {
    items = new TableItems();
    extensions.set(TableItems, items);
  }
  return items;
}

/** The place of an item. @param table a reference to a table, whose only field is its handle */
function placeOf(context: NativeContext, table: Value, key: Value): MaybePromise<Value[]> {
  const { meter, program, transaction, typeArguments, world } = context;
  const handle = partsOf(referenced(table))[0] as Address;
  const { places, seen } = itemsOf(context);
  return andThen(program.layout(typeArguments[0]!), (keyLayout) => {
    const keyBytes = encodeValue(keyLayout, key, meter);
    const id = handle + byteTools.latin1Text(byteTools.asBuffer(keyBytes), 0, keyBytes.length);
    const known = places.get(id);
    if (known !== undefined) return known;
    return andThen(world.tableItem(handle, keyBytes), (bytes) =>
      andThen(bytes && program.layout(typeArguments[2]!), (layout) => {
        const place = [layout && decodeValue(layout, bytes!, meter, program)];
        places.set(id, place);
        if (transaction !== undefined) {
          const before = bytes && Uint8Array.from(bytes);
          seen.push({ handle, key: keyBytes, type: typeArguments[2]!, place, before });
        }
        return place;
      }),
    );
  });
}

const newHandle: Native = (context) => {
  const items = itemsOf(context);
  const handle = sessionAddress(context, items.newTables);
  items.newTables += 1;
  return [handle];
};

const addBox: Native = (context, [table, key, value]) =>
  andThen(placeOf(context, table, key), (place): NativeResult => {
    if (place[0] !== undefined) return new NativeAbort(ALREADY_EXISTS);
    place[0] = value;
    return [];
  });

const borrowBox: Native = (context, [table, key]) =>
  andThen(
    placeOf(context, table, key),
    (place): NativeResult =>
      place[0] === undefined ? new NativeAbort(NOT_FOUND) : [new Reference(place, 0)],
  );

const removeBox: Native = (context, [table, key]) =>
  andThen(placeOf(context, table, key), (place): NativeResult => {
    const value = place[0];
    if (value === undefined) return new NativeAbort(NOT_FOUND);
    place[0] = undefined;
    return [value];
  });

const containsBox: Native = (context, [table, key]) =>
  andThen(placeOf(context, table, key), (place) => [place[0] !== undefined]);

const nothing: Native = () => [];

export const TABLE_NATIVES: Readonly<Record<string, Native>> = {
  'table::new_table_handle': newHandle,
  'table::add_box': addBox,
  'table::borrow_box': borrowBox,
  'table::borrow_box_mut': borrowBox,
  'table::remove_box': removeBox,
  'table::contains_box': containsBox,
  'table::destroy_empty_box': nothing,
  'table::drop_unchecked_box': nothing,
};
