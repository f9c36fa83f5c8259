/** What a run for a transaction changed (docs/spec/vm.md §8.2, §8.3). */
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { ContractEvent } from '../move/transactions/event.ts';
import { type Address, addressBytes, padAddress } from '../move/types/address.ts';
import type { StructTag } from '../move/types/type-tag.ts';
import type { Machine } from './machine/machine.ts';
import { TableAggregators } from './natives/aggregators.ts';
import { EmittedEvents } from './natives/effects.ts';
import { TableItems } from './natives/tables.ts';
import type { Program } from './program/program.ts';
import type { VmType } from './program/vm-type.ts';
import type { StoredPlace, Value } from './value.ts';
import { encodeValue } from './value-bcs.ts';
import type { World } from './world.ts';

interface Change {
  /** BCS, or `undefined` if it is removed. */
  readonly after: Buffer | undefined;
  /** Whether only aggregators were changed. */
  readonly isAggregate: boolean;
}

interface ResourceChange extends Change {
  readonly address: Address;
  readonly tag: StructTag;
}

interface ItemChange extends Change {
  readonly handle: Address;
  readonly key: Buffer;
  /** Whether the number was changed without being read, which costs nothing. */
  readonly isDelta: boolean;
}

export interface RunEffects {
  readonly resources: readonly ResourceChange[];
  readonly items: readonly ItemChange[];
  readonly events: readonly ContractEvent[];
}

/** The effects of a run that is over. Rejects with VmError for a value that cannot be written. */
export async function effectsOf(machine: Machine): Promise<RunEffects> {
  const { extensions, globals } = machine;
  const yieldIfDue = turnsOf(machine);
  const resources: ResourceChange[] = [];
  for (const resource of globals.all()) {
    const { address, type, place } = resource;
    if (type.tag.kind !== 'struct' || !isChanged(resource, place[0])) continue;
    await yieldIfDue();
    const after = await encodeAfter(machine, type, place[0]);
    const isAggregate = isAggregateOnly(resource);
    resources.push({ address, tag: type.tag.struct, after, isAggregate });
  }
  const items: ItemChange[] = [];
  for (const { handle, key, type, place, stored } of extensions.of(TableItems).accessed) {
    if (!isChanged(stored, place[0])) continue;
    await yieldIfDue();
    const after = await encodeAfter(machine, type, place[0]);
    items.push({ handle, key, after, isDelta: false, isAggregate: isAggregateOnly(stored) });
  }
  items.push(...aggregatorChanges(extensions.of(TableAggregators)));
  return { resources, items, events: extensions.of(EmittedEvents).events };
}

/**
 * Lets a machine in which no function runs continue with other modules: each program has its own types.
 * @param world the state, with resources located through these modules
 */
export function continueIn(machine: Machine, program: Program, world: World): void {
  machine.program = program;
  machine.world.inner = world;
  machine.globals.rebindTypes(program);
  for (const item of machine.extensions.of(TableItems).accessed) {
    item.type = program.type(item.type.tag);
  }
}

/** Work between two turns of the event loop, in units of the run's limits. */
const UNITS_PER_TURN = 100_000;
/** Maximum number of values checked between two turns. */
const VALUES_PER_TURN = 256;

/** Lets others have their turn if much was written since the last one. */
function turnsOf({ meter, world }: Machine): () => Promise<void> | undefined {
  let unitsAtLastTurn = meter.unitsLeft;
  let left = VALUES_PER_TURN;
  return () => {
    left -= 1;
    if (left > 0 && unitsAtLastTurn - meter.unitsLeft < UNITS_PER_TURN) return undefined;
    unitsAtLastTurn = meter.unitsLeft;
    left = VALUES_PER_TURN;
    return world.nextTurn();
  };
}

function encodeAfter(
  { meter, program }: Machine,
  type: VmType,
  value: Value,
): MaybePromise<Buffer | undefined> {
  // Others get their turn between values, so the limit of one operation applies to each.
  meter.beginOperation();
  if (value === undefined) return undefined;
  return andThen(program.layout(type), (layout) => encodeValue(layout, value, meter));
}

/** Whether a value is written: not if it was created and removed again, but if it was assigned. */
function isChanged({ isAssigned, isAggregated, bytes }: StoredPlace, value: Value): boolean {
  return value === undefined ? bytes !== undefined : isAssigned || isAggregated;
}

function isAggregateOnly({ isAssigned, isAggregated }: StoredPlace): boolean {
  return isAggregated && !isAssigned;
}

function aggregatorChanges(aggregators: TableAggregators): ItemChange[] {
  const changes: ItemChange[] = [];
  for (const id of new Set([...aggregators.before.keys(), ...aggregators.values.keys()])) {
    const value = aggregators.values.get(id);
    if (value === aggregators.before.get(id) && !aggregators.changed.has(id)) continue;
    const after = value === undefined ? undefined : encodeBcs((writer) => writer.u128(value));
    const handle = padAddress(id.slice(0, id.length / 2));
    const key = Buffer.from(addressBytes(padAddress(id.slice(id.length / 2))));
    changes.push({
      handle,
      key,
      after,
      isDelta: !aggregators.read.has(id),
      isAggregate: false,
    });
  }
  return changes;
}
