/** Reads of state by its key: items of tables and raw state values (docs/spec/transactions.md §6). */
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import type { JsonValue } from '../../move/json/json-text.ts';
import { formatJson } from '../../move/json/json-text-print.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import {
  decodeStateKey,
  type HashedStateKey,
  hashedStateKey,
  type StateKey,
} from '../../move/types/state-key.ts';
import { StateValue } from '../../move/types/state-value.ts';
import { TypeTag } from '../../move/types/type-tag.ts';
import { LayoutError } from '../../move/values/layout.ts';
import { resolveArgumentLayout } from '../../move/values/layout-resolver.ts';
import { encodeValue, ValueEncodeError } from '../../move/values/value-encode.ts';
import { renderValue } from '../../move/values/value-json.ts';
import { conversionError, LedgerError } from '../../state/ledger-error.ts';
import type { ModuleView } from '../../state/module-view.ts';
import type { PruningGuard } from '../../state/pruning-guard.ts';
import type { StateEntry } from '../../store/columns/state-column.ts';
import type { ItemTypes } from './item-request.ts';

interface TableItem {
  readonly bytes: Uint8Array;
  /** The value alone as JSON text, rendered with the types of the version read. */
  json(): Promise<string>;
}

interface StateItemSources {
  readonly guard: PruningGuard;
  modulesAt(version: bigint): ModuleView;
}

type Value = StateEntry & { readonly bytes: Buffer };

export class StateItems {
  readonly #sources: StateItemSources;

  constructor(sources: StateItemSources) {
    this.#sources = sources;
  }

  /**
   * An item of a table by its key in JSON. Throws `invalid_input` for a key that is not of the type,
   * `table_item_not_found`.
   */
  async tableItem(
    handle: Address,
    types: ItemTypes,
    key: JsonValue,
    version: bigint,
  ): Promise<TableItem> {
    const modules = this.#sources.modulesAt(version);
    const keyBytes = await encodeKey(types.key, key, modules.lookup);
    const { bytes } = await this.#item(handle, keyBytes, () => formatJson(key), version);
    return { bytes, json: () => valueJson(types.value, bytes, modules) };
  }

  /** The stored bytes of a table's item by the BCS of its key. Throws `table_item_not_found`. */
  async rawTableItem(handle: Address, key: Buffer, version: bigint): Promise<Uint8Array> {
    const { bytes } = await this.#item(handle, key, () => formatHex(key), version);
    return bytes;
  }

  /**
   * BCS of the StateValue under a state key, which is given in BCS. Without a version the latest is read. Throws
   * `version_not_found`, `version_pruned`, `internal_error` for bytes that are not a state key,
   * `state_value_not_found`.
   */
  async rawStateValue(keyBytes: Buffer, requestedVersion: bigint | undefined): Promise<Buffer> {
    const { guard } = this.#sources;
    const hex = formatHex(keyBytes);
    const key = readKey(keyBytes);
    const account =
      !(key instanceof BcsError) && key.kind === 'accessPath' ? key.address : undefined;
    const version = guard.resolveVersion(requestedVersion, account);
    if (key instanceof BcsError) {
      const text = `Failed deserializing state value. key: ${hex}: ${key.detail}`;
      throw new LedgerError('internal_error', text, { cause: key });
    }
    const keyWithMetadata = { ...hashedStateKey(key), needsMetadata: true } as const;
    const value = await this.#value(keyWithMetadata, version, account);
    if (value !== undefined) return StateValue.encode(value);
    throw new LedgerError(
      'state_value_not_found',
      `Raw State Value not found by StateKey(${hex}) and Ledger version(${version})`,
    );
  }

  async #item(
    handle: Address,
    key: Buffer,
    keyText: () => string,
    version: bigint,
  ): Promise<Value> {
    const value = await this.#value(
      hashedStateKey({ kind: 'tableItem', handle, key }),
      version,
      undefined,
    );
    if (value !== undefined) return value;
    throw new LedgerError(
      'table_item_not_found',
      `Table Item not found by Table handle(${formatAddress(handle)}), Table key(${keyText()}) ` +
        `and Ledger version(${version})`,
    );
  }

  async #value(
    key: HashedStateKey,
    version: bigint,
    account: Address | undefined,
  ): Promise<Value | undefined> {
    const entry = await this.#sources.guard.state(account, key, version);
    return entry?.bytes === undefined ? undefined : (entry as Value);
  }
}

/** Decodes a state key. The error is returned, not thrown, because versions are checked first. */
function readKey(bytes: Buffer): StateKey | BcsError {
  try {
    return decodeStateKey(bytes);
  } catch (error) {
    if (error instanceof BcsError) return error;
    throw error;
  }
}

/** BCS of a key. @throws LedgerError `invalid_input` */
async function encodeKey(type: TypeTag, key: JsonValue, lookup: ModuleLookup): Promise<Buffer> {
  const writer = new BcsWriter();
  try {
    encodeValue(await resolveArgumentLayout(type, lookup), key, writer);
  } catch (cause) {
    if (!(cause instanceof LayoutError || cause instanceof ValueEncodeError)) throw cause;
    throw new LedgerError('invalid_input', cause.message, { cause });
  }
  return writer.view();
}

async function valueJson(type: TypeTag, bytes: Uint8Array, modules: ModuleView): Promise<string> {
  try {
    const { value } = await modules.type(TypeTag.encode(type), type);
    return renderValue(value.layout, bytes);
  } catch (cause) {
    throw conversionError('Failed to deserialize table item retrieved from DB', cause);
  }
}
