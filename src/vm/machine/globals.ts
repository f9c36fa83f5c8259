/** The resources that a run has accessed: each is read once, and charged once per session. */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import type { Address } from '../../move/types/address.ts';
import type { Layout } from '../../move/values/layout.ts';
import type { NativeContext, NativeResource } from '../native.ts';
import type { Program } from '../program/program.ts';
import type { VmType } from '../program/vm-type.ts';
import { VmError, verificationError } from '../status/status.ts';
import type { StoredPlace, Value } from '../value.ts';
import { decodeValue } from '../value-bcs.ts';
import type { StoredGroup } from '../world.ts';

export interface GlobalResource extends StoredPlace {
  readonly address: Address;
  type: VmType;
  /** Its place; empty if the resource does not exist or the run has removed it. */
  readonly place: Value[];
  readonly group: StoredGroup | undefined;
  /** The last session that has paid for reading it. */
  chargedSession: number;
}

/** The parts of a run that are needed to read resources and charge for them. */
interface Reader extends Pick<NativeContext, 'gas' | 'meter' | 'program' | 'world'> {
  chargeLayout(layout: Layout): MaybePromise<void>;
}

export class Globals {
  readonly #run: Reader;
  #known = new Map<VmType, Map<Address, GlobalResource>>();
  readonly #paidGroups = new Set<string>();
  #session = 0;

  constructor(run: Reader) {
    this.#run = run;
  }

  /** Starts a session, in which everything is charged again. */
  beginSession(): void {
    this.#session += 1;
    if (this.#paidGroups.size > 0) this.#paidGroups.clear();
  }

  all(): GlobalResource[] {
    const all: GlobalResource[] = [];
    for (const ofType of this.#known.values()) for (const one of ofType.values()) all.push(one);
    return all;
  }

  /** Replaces the types of resources by those of another program. */
  rebindTypes(program: Program): void {
    const known = this.all();
    this.#known = new Map();
    for (const resource of known) {
      resource.type = program.type(resource.type.tag);
      this.#record(resource);
    }
  }

  /** A resource, paid for; `undefined` if it has to be read first. */
  known(address: Address, type: VmType): GlobalResource | undefined {
    const known = this.#known.get(type)?.get(address);
    if (known !== undefined) this.pay(known);
    return known;
  }

  /** Charges once per session for a resource. @throws VmError OUT_OF_GAS, IO_LIMIT_REACHED */
  pay(resource: GlobalResource): void {
    if (resource.chargedSession === this.#session) return;
    this.#run.gas.chargeRead(this.#unpaidBytes(resource));
  }

  /** A resource for a native, which charges for it in its own way. */
  forNative(resource: GlobalResource): NativeResource {
    return {
      isPresent: resource.place[0] !== undefined,
      loadedBytes:
        resource.chargedSession === this.#session ? undefined : this.#unpaidBytes(resource),
    };
  }

  /** Reads a resource. @throws VmError IO_LIMIT_REACHED, FAILED_TO_DESERIALIZE_RESOURCE; or rejects with it */
  read(address: Address, type: VmType): MaybePromise<GlobalResource> {
    const known = this.#known.get(type)?.get(address);
    if (known !== undefined) return known;
    const { tag } = type;
    if (tag.kind !== 'struct') throw verificationError('resource that is not a struct');
    const { meter, program, world } = this.#run;
    let group: StoredGroup | undefined;
    const onGroup = (found: StoredGroup): void => {
      group = found;
    };
    return andThen(world.resource(address, tag.struct, onGroup), (bytes) => {
      const record = (value: Value) => {
        return this.#record({
          address,
          type,
          place: [value],
          bytes: bytes?.length,
          group,
          isAssigned: false,
          isAggregated: false,
          chargedSession: -1,
        });
      };
      if (bytes === undefined) return record(undefined);
      return andThen(program.layout(type), (layout) => {
        void this.#run.chargeLayout(layout);
        try {
          return record(decodeValue(layout, bytes, meter, program));
        } catch (error) {
          if (!(error instanceof BcsError)) throw error;
          throw new VmError('FAILED_TO_DESERIALIZE_RESOURCE');
        }
      });
    });
  }

  #record(resource: GlobalResource): GlobalResource {
    const { address, type } = resource;
    let ofType = this.#known.get(type);
    if (ofType === undefined) {
      ofType = new Map();
      this.#known.set(type, ofType);
    }
    ofType.set(address, resource);
    return resource;
  }

  /** Marks a resource as paid and returns the bytes to charge: a group's first member adds the whole group. */
  #unpaidBytes(resource: GlobalResource): number {
    const { bytes = 0, group } = resource;
    resource.chargedSession = this.#session;
    if (group === undefined || this.#paidGroups.has(group.id)) return bytes;
    this.#paidGroups.add(group.id);
    return bytes + group.bytes;
  }
}
