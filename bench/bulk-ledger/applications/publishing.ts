/** Published code: a transaction publishes `beef::clock`, and others upgrade it again and again (`0x1::code`). */

import { type BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import type { Address } from '../../../src/move/types/address.ts';
import { callsOf } from '../../../src/sample/calls.ts';
import { BEEF, BEEF_HEX } from '../../../src/sample/publishers.ts';
import {
  APPLICATION_ADDRESSES,
  CLOCK_MAX_HANDS,
  clockModuleText,
} from '../framework/application-modules.ts';
import { assembleText } from '../framework/framework.ts';
import { BEEF_ACCOUNT } from '../model/accounts.ts';
import { eventType } from '../model/events.ts';
import { moduleKey, resourceKey, type Slots, singleSlot } from '../model/slots.ts';
import type { Call, World } from '../model/world.ts';

const PUBLISHED = eventType('0x1::code::PublishPackage');
/** Upgrades must stay compatible. */
const COMPATIBLE_POLICY = 1;

const publish = callsOf('0x1::code::publish_package_txn');

interface Package {
  readonly name: string;
  readonly upgradeNumber: number;
  readonly moduleNames: readonly string[];
}

/** Writes a `0x1::code::PackageMetadata`. */
function writePackage(writer: BcsWriter, { name, upgradeNumber, moduleNames }: Package): void {
  const none = Buffer.alloc(0);
  writer.string(name).u8(COMPATIBLE_POLICY).exactU64(upgradeNumber);
  writer.string('').bytes(none);
  writer.vector(moduleNames, (to, module) => to.string(module).bytes(none).bytes(none).u8(0));
  writer.length32(0).u8(0);
}

export function packageRegistry(address: Address, current: () => Package): Slots {
  return singleSlot(resourceKey(address, '0x1::code::PackageRegistry'), (writer) =>
    writePackage(writer.length32(1), current()),
  );
}

export class Clockmaker {
  readonly #world: World;
  readonly #slots: readonly Slots[];
  /** Number of the module's latest upgrade; -1 before it is published. */
  #upgrade = -1;
  /** Keyed by the number of hands: upgrades repeat, and assembling one costs milliseconds. */
  readonly #binaries = new Map<number, Buffer>();

  constructor(world: World) {
    this.#world = world;
    this.#slots = [
      singleSlot(moduleKey(BEEF, 'clock'), (writer) => writer.fixed(this.#binary())),
      packageRegistry(BEEF, () => this.#package()),
      singleSlot(resourceKey(BEEF, `${BEEF_HEX}::clock::Clock`), (writer) =>
        writer.uleb32(0).exactU64(this.#upgrade),
      ),
    ];
  }

  /** `0x1::code::publish_package_txn` */
  readonly publish = (): Call => {
    const { effects } = this.#world;
    this.#upgrade += 1;
    const isUpgrade = this.#upgrade > 0;
    for (const slot of this.#slots) {
      if (isUpgrade) effects.modify(slot);
      else effects.create(slot);
    }
    effects.moduleEvent(PUBLISHED, (writer) => writer.address(BEEF).bool(isUpgrade));
    return {
      sender: BEEF_ACCOUNT,
      payload: () =>
        publish(
          (to) => to.bytes(encodeBcs((writer) => writePackage(writer, this.#package()))),
          (to) => to.length32(1).bytes(this.#binary()),
        ),
    };
  };

  #package(): Package {
    return { name: 'Clock', upgradeNumber: this.#upgrade, moduleNames: ['clock'] };
  }

  #binary(): Buffer {
    const hands = this.#upgrade % CLOCK_MAX_HANDS;
    let binary = this.#binaries.get(hands);
    if (binary === undefined) {
      binary = assembleText(clockModuleText(hands), APPLICATION_ADDRESSES)[0]!.bytes;
      this.#binaries.set(hands, binary);
    }
    return binary;
  }
}
