/** Published code: `beef::clock` appears by transaction and is upgraded again and again (`0x1::code`). */

import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, type Address } from '../../move/types/address.ts';
import { BEEF_ACCOUNT } from '../accounts.ts';
import { eventType } from '../effects.ts';
import {
  APPLICATION_ADDRESSES,
  BEEF,
  CLOCK_MAX_HANDS,
  clockModuleText,
} from '../framework/application-modules.ts';
import { type AssembledModule, assembleText } from '../framework/framework.ts';
import { moduleKey, resourceKey, SingleSlots } from '../slots.ts';
import { argument, type Call, entryFunction, type World } from '../world.ts';

const PUBLISHED = eventType('0x1::code::PublishPackage');
/** Upgrades must stay compatible. */
const COMPATIBLE_POLICY = 1;

/** What a package says of itself in its registry. */
export interface Package {
  readonly name: string;
  readonly upgradeNumber: number;
  readonly moduleNames: readonly string[];
}

/** Writes a `0x1::code::PackageMetadata`. */
export function writePackage(
  writer: BcsWriter,
  { name, upgradeNumber, moduleNames }: Package,
): void {
  const none = Buffer.alloc(0);
  writer.string(name).u8(COMPATIBLE_POLICY).u64(BigInt(upgradeNumber));
  writer.string('').bytes(none);
  writer.vector(moduleNames, (to, module) => to.string(module).bytes(none).bytes(none).u8(0));
  writer.length32(0).u8(0);
}

/** Key and value of the registry of an account with one package. */
export function packageRegistryKey(address: Address): Buffer {
  return resourceKey(address, '0x1::code::PackageRegistry');
}

export class Clockmaker {
  readonly #world: World;
  readonly #slots = new SingleSlots();
  readonly #module: number;
  readonly #registry: number;
  readonly #clock: number;
  /** How often the module was published; 0: never. */
  #publications = 0;
  /** Kept: upgrades go round, and assembling one costs milliseconds. */
  readonly #binaries = new Map<number, Buffer>();

  constructor(world: World) {
    this.#world = world;
    this.#module = this.#slots.add(moduleKey(BEEF, 'clock'), (writer) =>
      writer.fixed(this.#binary()),
    );
    this.#registry = this.#slots.add(packageRegistryKey(BEEF), (writer) => {
      writer.length32(1);
      writePackage(writer, this.#package());
    });
    this.#clock = this.#slots.add(resourceKey(BEEF, '0xbeef::clock::Clock'), (writer) =>
      writer.uleb32(0).u64(BigInt(this.#publications - 1)),
    );
  }

  /** `0x1::code::publish_package_txn` */
  readonly publish = (): Call => {
    const { chain, effects } = this.#world;
    const isUpgrade = this.#publications > 0;
    this.#publications += 1;
    for (const slot of [this.#module, this.#registry, this.#clock]) {
      if (isUpgrade) {
        effects.modify(this.#slots, slot);
      } else {
        this.#slots.setCreatedAt(slot, chain.now);
        effects.create(this.#slots, slot);
      }
    }
    effects.moduleEvent(PUBLISHED, (writer) => writer.address(BEEF).bool(isUpgrade));
    return {
      sender: BEEF_ACCOUNT,
      payload: () => {
        const metadata = encodeBcs((writer) => writePackage(writer, this.#package()));
        return entryFunction(
          ADDRESS_ONE,
          'code',
          'publish_package_txn',
          [],
          [
            argument((writer) => writer.bytes(metadata)),
            argument((writer) => writer.length32(1).bytes(this.#binary())),
          ],
        );
      },
    };
  };

  #package(): Package {
    return { name: 'Clock', upgradeNumber: this.#publications - 1, moduleNames: ['clock'] };
  }

  #binary(): Buffer {
    const hands = (this.#publications - 1) % CLOCK_MAX_HANDS;
    let binary = this.#binaries.get(hands);
    if (binary === undefined) {
      const modules: AssembledModule[] = assembleText(
        clockModuleText(hands),
        APPLICATION_ADDRESSES,
      );
      binary = modules[0]!.bytes;
      this.#binaries.set(hands, binary);
    }
    return binary;
  }
}
