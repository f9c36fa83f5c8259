/** The request as TypeScript types, for users of the library (docs/spec/encode.md §A1, A2). */
import type { PlainJson } from '../../move/json/json-plain.ts';

/** `arguments` without signers: u8 to u32 as numbers, u64 and larger as decimal text, bytes as hex. */
export interface EntryFunctionPayloadObject {
  readonly type: 'entry_function_payload';
  /** `{address}::{module}::{function}` */
  readonly function: string;
  readonly type_arguments: readonly string[];
  readonly arguments: readonly PlainJson[];
}

export interface ScriptPayloadObject {
  readonly type: 'script_payload';
  readonly code: {
    /** Hex. */
    readonly bytecode: string;
    /** Trusted if given: the bytecode is ignored then. */
    readonly abi?: PlainJson;
  };
  readonly type_arguments: readonly string[];
  readonly arguments: readonly PlainJson[];
}

export interface MultisigPayloadObject {
  readonly type: 'multisig_payload';
  readonly multisig_address: string;
  /** Absent if the payload is stored on the chain. */
  readonly transaction_payload?: EntryFunctionPayloadObject | ScriptPayloadObject | null;
}

export interface EncryptedPayloadObject {
  readonly type: 'encrypted_transaction_payload';
  readonly encrypted_state: 'encrypted';
  /** 64 hex digits, `0x` optional. */
  readonly payload_hash: string;
  /** Hex. */
  readonly ciphertext: string;
  readonly encryption_epoch: string;
  readonly claimed_entry_fun?: { readonly module: string; readonly name?: string | null } | null;
}

/** A transaction to encode. Integers are decimal texts; addresses are hex, `0x` and leading zeros optional. */
export interface SubmissionRequest {
  readonly sender: string;
  /** Required even with a nonce, but ignored then. */
  readonly sequence_number: string;
  readonly max_gas_amount: string;
  readonly gas_unit_price: string;
  readonly expiration_timestamp_secs: string;
  readonly payload:
    | EntryFunctionPayloadObject
    | ScriptPayloadObject
    | MultisigPayloadObject
    | EncryptedPayloadObject;
  readonly replay_protection_nonce?: string | null;
  /** If present, even empty: a multi-agent transaction. */
  readonly secondary_signers?: readonly string[] | null;
}
