/** State edits that only a local network has, and the conversion of edits to writes (docs/localnet.md). */
import type { Executor } from '../execution/executor.ts';
import type { StateChange } from '../execution/state-changes.ts';
import { writesOf } from '../execution/storage-fees.ts';
import { OverrideError } from '../ledger/overrides/override-error.ts';
import {
  assertU64,
  type EditedValue,
  parsed,
  type StateEdit,
} from '../ledger/overrides/state-edits.ts';
import { decodeBcs } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { WriteSetEntry } from '../move/transactions/write-set.ts';
import { ADDRESS_ONE, type Address, parseAddress } from '../move/types/address.ts';
import { ACCOUNT_TAG, FEATURES_TAG, frameworkTag } from '../move/types/framework-tag.ts';
import {
  hashedStateKey,
  parsePhysicalStateKey,
  resourceStateKey,
  StateKey,
} from '../move/types/state-key.ts';
import { accountCodec, featuresCodec } from '../move/values/framework-resource.ts';

const FEATURES_KEY = hashedStateKey(resourceStateKey(ADDRESS_ONE, FEATURES_TAG));
const GAS_SCHEDULE_KEY = hashedStateKey(
  resourceStateKey(ADDRESS_ONE, frameworkTag('gas_schedule', 'GasScheduleV2')),
);
/** The reference numbers its flags with one byte. */
const MAX_FEATURE = 255;
/** Follows the numbers of the event handles of the account and of its first coin store. */
const FIRST_FREE_NUMBER = 4n;
/** Minimum size of a gas schedule entry in bytes: its name is empty. */
const MIN_ENTRY_BYTES = 9;

/** @param key BCS, like `value`; neither is checked, because the ledger does not contain a table's types */
export function tableItemEdit(
  handle: string,
  key: Uint8Array,
  value: Uint8Array | undefined,
): StateEdit {
  const address = parsed(() => parseAddress(handle));
  const item = hashedStateKey({ kind: 'tableItem', handle: address, key: Buffer.from(key) });
  return async () => [{ key: item, bytes: value && Buffer.from(value) }];
}

export interface FeatureChange {
  readonly enable?: readonly number[] | undefined;
  readonly disable?: readonly number[] | undefined;
}

/** @throws OverrideError */
export function featuresEdit({ enable = [], disable = [] }: FeatureChange): StateEdit {
  for (const flag of [...enable, ...disable]) {
    if (Number.isInteger(flag) && flag >= 0 && flag <= MAX_FEATURE) continue;
    throw new OverrideError(`a feature flag is a number from 0 to ${MAX_FEATURE}: ${flag}`);
  }
  return async (state) => {
    const before = await state.value(FEATURES_KEY);
    const known =
      before === undefined ? Buffer.alloc(0) : parsed(() => featuresCodec.decode(before));
    const size = Math.max(known.length, ...enable.map((flag) => Math.floor(flag / 8) + 1));
    const flags = Buffer.alloc(size);
    known.copy(flags);
    for (const flag of enable) flags[Math.floor(flag / 8)]! |= 1 << (flag % 8);
    for (const flag of disable) {
      if (flag < size * 8) flags[Math.floor(flag / 8)]! &= ~(1 << (flag % 8));
    }
    return [{ key: FEATURES_KEY, bytes: featuresCodec.encode(flags) }];
  };
}

/** @param name such as `txn.min_price_per_gas_unit` @throws OverrideError */
export function gasEdit(name: string, value: bigint): StateEdit {
  assertU64('a gas figure', value);
  return async (state) => {
    const bytes = await state.value(GAS_SCHEDULE_KEY);
    if (bytes === undefined) throw new OverrideError('this chain has no gas schedule to change');
    const [version, entries] = parsed(() =>
      decodeBcs(
        bytes,
        (reader) =>
          [
            reader.u64(),
            reader.vector(MIN_ENTRY_BYTES, (from) => [from.string(), from.u64()] as const),
          ] as const,
      ),
    );
    const schedule = new Map(entries).set(name, value);
    const changed = encodeBcs((writer) => {
      writer.u64(version);
      writer.vector([...schedule], (to, [entry, value]) => to.string(entry).u64(value));
    });
    return [{ key: GAS_SCHEDULE_KEY, bytes: changed }];
  };
}

/** Sets the key of an account and keeps its other fields. @param authenticationKey 32 bytes */
export function keyEdit(address: Address, authenticationKey: Buffer): StateEdit {
  const key = hashedStateKey(resourceStateKey(address, ACCOUNT_TAG));
  const handle = (creationNumber: bigint) => ({ counter: 0n, key: { creationNumber, address } });
  return async (state) => {
    const before = await state.value(key);
    const account =
      before === undefined
        ? {
            sequenceNumber: 0n,
            guidCreationNumber: FIRST_FREE_NUMBER,
            coinRegisterEvents: handle(0n),
            keyRotationEvents: handle(1n),
            rotationCapabilityOffer: undefined,
            signerCapabilityOffer: undefined,
          }
        : parsed(() => accountCodec.decode(before));
    return [{ key, bytes: accountCodec.encode({ ...account, authenticationKey }) }];
  };
}

/** The writes of an edit, in the order of a write set; those that change nothing are left out. */
export async function writesOfEdit(
  edit: StateEdit,
  executor: Executor,
): Promise<readonly WriteSetEntry[]> {
  const changes: StateChange[] = [];
  const value = async (key: EditedValue['key']) => (await executor.entry(key))?.bytes;
  for (const { key, bytes: after } of await edit({ modules: executor.modules(), value })) {
    const before = (await executor.entry(key)) ?? { bytes: undefined, metadata: undefined };
    if (before.bytes === undefined ? after === undefined : after?.equals(before.bytes)) continue;
    const stateKey = parsePhysicalStateKey(key.physical);
    const keyBytes = StateKey.encode(stateKey);
    changes.push({ key: stateKey, keyBytes, before, after, isCharged: false, isAggregate: false });
  }
  changes.sort((one, other) => one.keyBytes.compare(other.keyBytes));
  return writesOf(changes, new Map(), undefined);
}
