/** Types of the node's responses, as far as the page reads them (docs/spec/http.md, docs/spec/transactions.md). */
import type { ModuleAbi } from '../../../src/move/modules/abi-shapes.ts';
import { isSigner } from '../encoding/signer-type.ts';
import type { Json, JsonObject } from './exact-json.ts';

/** GET /v1. */
export interface LedgerInfo {
  readonly chain_id: number;
  readonly epoch: string;
  readonly ledger_version: string;
  readonly oldest_ledger_version: string;
  readonly ledger_timestamp: string;
  readonly node_role: string;
  readonly oldest_block_height: string;
  readonly block_height: string;
  readonly git_hash: string;
  readonly encryption_key?: string | null;
}

/** Fields that only some kinds have are optional. */
export interface Transaction {
  readonly type: string;
  readonly hash: string;
  /** Absent while the transaction is pending. */
  readonly version?: string;
  readonly success?: boolean;
  readonly vm_status?: string;
  readonly timestamp?: string;
  readonly sender?: string;
  readonly proposer?: string;
  readonly epoch?: string;
  readonly round?: string;
  readonly sequence_number?: string;
  readonly replay_protection_nonce?: string;
  readonly gas_used?: string;
  readonly gas_unit_price?: string;
  readonly max_gas_amount?: string;
  readonly expiration_timestamp_secs?: string;
  readonly state_change_hash?: string;
  readonly event_root_hash?: string;
  readonly accumulator_root_hash?: string;
  readonly state_checkpoint_hash?: string | null;
  readonly payload?: Payload;
  readonly signature?: Signature | null;
  readonly events?: readonly EventJson[];
  readonly changes?: readonly ChangeJson[];
}

export interface Payload extends JsonObject {
  readonly type: string;
  readonly function?: string;
  readonly type_arguments?: readonly string[];
  readonly arguments?: readonly Json[];
  readonly multisig_address?: string;
}

export interface Signature extends JsonObject {
  readonly type: string;
  readonly fee_payer_address?: string;
  readonly secondary_signer_addresses?: readonly string[];
}

export interface EventJson {
  readonly type: string;
  readonly data: Json;
  readonly version: string;
  readonly sequence_number: string;
  readonly guid?: { readonly account_address: string; readonly creation_number: string };
}

/** An item of `GET /v1/events/by_type/{type}`, an extension (docs/extensions.md). */
export interface TypedEvent {
  readonly version: string;
  readonly index: number;
  readonly data: Json;
}

export interface ChangeJson {
  readonly type: string;
  readonly address?: string;
  readonly resource?: string;
  readonly module?: string;
  readonly handle?: string;
  readonly key?: string;
  readonly value?: string;
  readonly data?: JsonObject | null;
}

export interface Block {
  readonly block_height: string;
  readonly block_hash: string;
  readonly block_timestamp: string;
  readonly first_version: string;
  readonly last_version: string;
  readonly transactions?: readonly Transaction[] | null;
}

export interface Resource {
  readonly type: string;
  readonly data: JsonObject;
}

/** An item of `GET /v1/accounts/{address}/balances`, an extension (docs/extensions.md). */
export interface HeldBalance {
  readonly asset_type: string;
  /** The address of the fungible asset, also for a paired coin. */
  readonly metadata: string;
  readonly amount: string;
  readonly name?: string;
  readonly symbol?: string;
  readonly decimals?: number;
}

/** A module with its ABI (docs/spec/http.md §8.2); the ABI is `null` if the bytes do not load. */
export interface ModuleAnswer {
  readonly bytecode: string;
  readonly abi?: ModuleAbi | null;
}

export type AbiFunction = ModuleAbi['exposed_functions'][number];

/** The parameters that a caller passes: all but the signers (docs/spec/encode.md §A4, step 5). */
export function argumentTypes(params: readonly string[]): string[] {
  return params.filter((type) => !isSigner(type));
}

/** A version that changed a balance. */
export interface BalanceChange {
  readonly version: string;
  readonly amount: string;
  readonly timestamp: string;
}
