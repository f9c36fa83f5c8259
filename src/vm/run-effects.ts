/** What a run for a transaction changed (docs/spec/vm.md §8.2, §8.3). */
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { ContractEvent } from '../move/transactions/event.ts';
import { type Address, addressBytes, padAddress } from '../move/types/address.ts';
import type { StructTag } from '../move/types/type-tag.ts';
import type { Machine } from './machine/machine.ts';
import { TableAggregators } from './natives/aggregators.ts';
import { EmittedEvents } from './natives/effects.ts';
import { TableItems } from './natives/tables.ts';
import type { VmType } from './program/vm-type.ts';
import type { Value } from './value.ts';
import { encodeValue } from './values/bcs.ts';

/** BCS before and after; `undefined` where there is none. They differ. */
interface Change {
  readonly before: Uint8Array | undefined;
  readonly after: Buffer | undefined;
}

export interface ResourceChange extends Change {
  readonly address: Address;
  readonly tag: StructTag;
}

interface ItemChange extends Change {
  readonly handle: Address;
  /** BCS. */
  readonly key: Buffer;
}

export interface RunEffects {
  readonly resources: readonly ResourceChange[];
  readonly items: readonly ItemChange[];
  readonly events: readonly ContractEvent[];
}

/** What a run has done so far. */
export interface RunWork {
  /** Units of its limits that are left. */
  readonly unitsLeft: number;
  /** Resources and items of tables that were looked at. */
  readonly reads: number;
}

export function workOf({ meter, seenResources, extensions }: Machine): RunWork {
  const tables = extensions.get(TableItems) as TableItems | undefined;
  const reads = seenResources.length + (tables?.seen.length ?? 0);
  return { unitsLeft: meter.unitsLeft, reads };
}

/** The effects of a run that is over. Rejects with VmError for a value that cannot be written. */
export async function effectsOf(machine: Machine): Promise<RunEffects> {
  const { extensions, seenResources } = machine;
  const giveTurns = turnsOf(machine);
  const resources: ResourceChange[] = [];
  for (const { address, type, place, before } of seenResources) {
    await giveTurns();
    const after = await written(machine, type, place[0]);
    if (type.tag.kind !== 'struct' || isSame(before, after)) continue;
    resources.push({ address, tag: type.tag.struct, before, after });
  }
  const items: ItemChange[] = [];
  const tables = extensions.get(TableItems) as TableItems | undefined;
  for (const { handle, key, type, place, before } of tables?.seen ?? []) {
    await giveTurns();
    const after = await written(machine, type, place[0]);
    if (!isSame(before, after)) items.push({ handle, key, before, after });
  }
  items.push(
    ...aggregatorChanges(extensions.get(TableAggregators) as TableAggregators | undefined),
  );
  const emitted = extensions.get(EmittedEvents) as EmittedEvents | undefined;
  return { resources, items, events: emitted?.events ?? [] };
}

/** Work between two turns of the event loop, in units of the run's limits. */
const UNITS_PER_TURN = 100_000;
/** What is looked at between two turns, at most. */
const VALUES_PER_TURN = 256;

/** Lets others have their turn where much was written since the last one. */
function turnsOf({ meter, world }: Machine): () => Promise<void> | undefined {
  let unitsThen = meter.unitsLeft;
  let left = VALUES_PER_TURN;
  return () => {
    left -= 1;
    if (left > 0 && unitsThen - meter.unitsLeft < UNITS_PER_TURN) return undefined;
    unitsThen = meter.unitsLeft;
    left = VALUES_PER_TURN;
    return world.nextTurn();
  };
}

async function written(
  { meter, program }: Machine,
  type: VmType,
  value: Value,
): Promise<Buffer | undefined> {
  // Others get their turn between values, so the limit of one operation is that of each.
  meter.beginOperation();
  return value === undefined ? undefined : encodeValue(await program.layout(type), value, meter);
}

function isSame(before: Uint8Array | undefined, after: Buffer | undefined): boolean {
  return before === undefined ? after === undefined : after?.equals(before) === true;
}

function aggregatorChanges(aggregators: TableAggregators | undefined): ItemChange[] {
  if (aggregators === undefined) return [];
  const bytesOf = (value: bigint | undefined): Buffer | undefined =>
    value === undefined ? undefined : encodeBcs((writer) => writer.u128(value));
  const changes: ItemChange[] = [];
  for (const id of new Set([...aggregators.before.keys(), ...aggregators.values.keys()])) {
    const before = bytesOf(aggregators.before.get(id));
    const after = bytesOf(aggregators.values.get(id));
    if (isSame(before, after)) continue;
    const handle = padAddress(id.slice(0, id.length / 2));
    const key = Buffer.from(addressBytes(padAddress(id.slice(id.length / 2))));
    changes.push({ handle, key, before, after });
  }
  return changes;
}
