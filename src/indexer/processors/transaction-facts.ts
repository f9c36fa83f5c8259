/** A transaction as the REST interface shows it, with the facts that processors use most. */
import { formatHex } from '../../move/bcs/hex.ts';
import { addressBytes, padAddress } from '../../move/types/address.ts';
import { primaryStoreOf } from '../../move/types/derived-address.ts';

/** Any JSON object. Its members depend on the type on chain. */
// biome-ignore lint/suspicious/noExplicitAny: the layout of a value is known by its type's name only
export type Fields = Readonly<Record<string, any>>;

export interface ChainEvent {
  readonly guid: { readonly creation_number: string; readonly account_address: string };
  readonly sequence_number: string;
  readonly type: string;
  readonly data: Fields;
}

interface ChainChange {
  readonly type: string;
  readonly address?: string;
  readonly state_key_hash: string;
  readonly data?: { readonly type: string; readonly data: Fields } | null;
  readonly resource?: string;
  readonly handle?: string;
  readonly key?: string;
  readonly value?: string;
}

/** The members that processors read; which of them exist depends on the type. */
export interface ChainTransaction {
  readonly version: string;
  readonly hash: string;
  readonly type: string;
  readonly success: boolean;
  readonly gas_used: string;
  readonly accumulator_root_hash: string;
  readonly changes: readonly ChainChange[];
  readonly events?: readonly ChainEvent[];
  readonly timestamp?: string;
  readonly sender?: string;
  readonly sequence_number?: string;
  readonly replay_protection_nonce?: string | null;
  readonly max_gas_amount?: string;
  readonly gas_unit_price?: string;
  readonly expiration_timestamp_secs?: string;
  readonly payload?: Fields;
  readonly signature?: Fields;
  readonly id?: string;
  readonly epoch?: string;
  readonly round?: string;
  readonly proposer?: string;
  readonly failed_proposer_indices?: readonly number[];
  readonly previous_block_votes_bitvec?: readonly number[];
}

export interface ResourceWrite {
  /** `0x` and 64 digits, like every address in a table. */
  readonly address: string;
  readonly type: string;
  readonly data: Fields;
  readonly stateKeyHash: string;
}

interface ResourceDeletion {
  readonly address: string;
  readonly type: string;
}

export interface TableWrite {
  readonly handle: string;
  /** Key and value are hexadecimal BCS. A deletion has no value. */
  readonly key: string;
  readonly value: string | undefined;
  readonly stateKeyHash: string;
  /** Its index among all changes. */
  readonly index: number;
  /** Absent if the table's types are unknown, or the bytes do not match them. */
  readonly decoded?: DecodedItem | undefined;
}

/** An item of a table, in JSON as the REST interface shows it. */
export interface DecodedItem {
  readonly keyType: string;
  readonly valueType: string;
  readonly key: unknown;
  /** Absent if the item was deleted. */
  readonly value: unknown;
  readonly owner: string;
}

/** A table that this transaction has revealed. */
export interface TableFacts {
  /** `0x` and 64 digits. */
  readonly handle: string;
  readonly keyType: string;
  readonly valueType: string;
  /** The account whose resource contains the table. */
  readonly owner: string;
}

export const OBJECT_CORE = '0x1::object::ObjectCore';
export const OBJECT_GROUP = '0x1::object::ObjectGroup';
export const FUNGIBLE_STORE = '0x1::fungible_asset::FungibleStore';
export const STORE_DELETION = '0x1::fungible_asset::FungibleStoreDeletion';
/** Orderless transactions have this in place of a sequence number. */
const NO_SEQUENCE_NUMBER = '18446744073709551615';

interface BlockPlace {
  readonly height: bigint;
  readonly epoch: bigint;
}

/** One transaction, read once for all processors. */
export class TransactionFacts {
  readonly transaction: ChainTransaction;
  /** Decimal digits, as REST shows a u64. */
  readonly version: string;
  readonly timestamp: string;
  readonly blockHeight: string;
  readonly epoch: string;
  readonly events: readonly ChainEvent[];
  readonly writes: readonly ResourceWrite[];
  readonly deletions: readonly ResourceDeletion[];
  /** Their items are decoded before any processor runs. */
  tableWrites: readonly TableWrite[];
  newTables: readonly TableFacts[] = [];
  readonly writesModules: boolean;
  readonly #byAddress = new Map<string, Map<string, Fields>>();

  constructor(transaction: ChainTransaction, { height, epoch }: BlockPlace) {
    this.transaction = transaction;
    this.version = transaction.version;
    // Genesis has no time.
    this.timestamp = timeOfUsecs(BigInt(transaction.timestamp ?? 0));
    this.blockHeight = String(height);
    this.epoch = String(epoch);
    this.events = transaction.events ?? [];
    const writes: ResourceWrite[] = [];
    const deletions: ResourceDeletion[] = [];
    const tableWrites: TableWrite[] = [];
    transaction.changes.forEach((change, index) => {
      switch (change.type) {
        case 'write_resource':
          writes.push(this.#written(change));
          break;
        case 'delete_resource':
          deletions.push({ address: fullAddress(change.address!), type: change.resource! });
          break;
        case 'write_table_item':
        case 'delete_table_item':
          tableWrites.push({
            handle: fullAddress(change.handle!),
            key: change.key!,
            value: change.value,
            stateKeyHash: change.state_key_hash,
            index,
          });
      }
    });
    this.writes = writes;
    this.writesModules = transaction.changes.some(({ type }) => type === 'write_module');
    this.deletions = deletions;
    this.tableWrites = tableWrites;
  }

  #written({ address: shortAddress, data, state_key_hash }: ChainChange): ResourceWrite {
    const address = fullAddress(shortAddress!);
    const write = { address, type: data!.type, data: data!.data, stateKeyHash: state_key_hash };
    let resources = this.#byAddress.get(address);
    if (resources === undefined) {
      resources = new Map();
      this.#byAddress.set(address, resources);
    }
    resources.set(write.type, write.data);
    return write;
  }

  get isOfUser(): boolean {
    return this.transaction.type === 'user_transaction';
  }

  /** A resource as this transaction has written it. */
  resource(address: string, type: string): Fields | undefined {
    return this.#byAddress.get(address)?.get(type);
  }

  /** The owner of an object that this transaction has written. */
  ownerOf(object: string): string | undefined {
    const core = this.resource(object, OBJECT_CORE);
    return core && fullAddress(core.owner);
  }

  isDeleted(object: string): boolean {
    return this.deletions.some(({ address, type }) => address === object && type === OBJECT_GROUP);
  }

  get sender(): string | undefined {
    const { sender } = this.transaction;
    return sender && fullAddress(sender);
  }

  get sequenceNumber(): string | null {
    const { sequence_number: number, replay_protection_nonce: nonce } = this.transaction;
    const hasNonce = nonce !== null && nonce !== undefined;
    return hasNonce || number === NO_SEQUENCE_NUMBER ? null : (number ?? null);
  }

  /** The entry function that was called, directly or by a multisig account. */
  get entryFunction(): string | undefined {
    const { payload } = this.transaction;
    const called = payload?.transaction_payload ?? payload;
    return called?.function as string | undefined;
  }
}

export function fullAddress(shortAddress: string): string {
  return shortAddress.length === 66
    ? shortAddress
    : `0x${padAddress(shortAddress.slice(2).toLowerCase())}`;
}

export function primaryStore(owner: string, metadata: string): string {
  return formatHex(primaryStoreOf(addressBytes(owner.slice(2)), addressBytes(metadata.slice(2))));
}

/** The end of the year 9999, in microseconds since 1970. */
const MAX_USECS = 253_402_300_799_999_999n;

/** A time as PostgreSQL reads it. Times after MAX_USECS are shown as MAX_USECS. */
export function timeOfUsecs(timestampUsecs: bigint): string {
  const usecs = timestampUsecs > MAX_USECS ? MAX_USECS : timestampUsecs;
  const seconds = new Date(Number(usecs / 1_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${String(usecs % 1_000_000n).padStart(6, '0')}`;
}

/** The value of an Option in JSON. */
export function optional<T>(option: { readonly vec: readonly T[] } | undefined): T | undefined {
  return option?.vec[0];
}

/** The types between the angle brackets after a name; `undefined` if the type has a different name. */
export function typeArgument(type: string, name: string): string | undefined {
  return type.startsWith(`${name}<`) && type.endsWith('>')
    ? type.slice(name.length + 1, -1)
    : undefined;
}
