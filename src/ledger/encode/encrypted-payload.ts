/** Encrypted payloads of the request: the union by `encrypted_state` (docs/spec/encode.md §A2, "Encrypted payload"). */
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { EncodeError } from './encode-error.ts';
import {
  asObject,
  bytesField,
  hashField,
  type JsonField,
  moduleIdField,
  optionalField,
  stringField,
  type Trace,
  u64Field,
  unexpectedType,
  within,
} from './fields.ts';

const ENCRYPTED_STATES = ['encrypted', 'failed_decryption', 'decrypted'] as const;

/** What a client says the ciphertext calls. */
export interface ClaimedFunction {
  readonly module: ModuleId;
  readonly name: string | undefined;
}

export interface EncryptedRequest {
  readonly kind: 'encrypted';
  /** Only `encrypted` can be submitted. */
  readonly state: (typeof ENCRYPTED_STATES)[number];
  /** 32 bytes. */
  readonly payloadHash: Buffer;
  /** Not looked into before conversion. */
  readonly ciphertext: Buffer;
  readonly encryptionEpoch: bigint;
  readonly claimedFunction: ClaimedFunction | undefined;
}

const UNION = 'EncryptedTransactionPayload';

/** Reads an encrypted payload. @throws EncodeError of stage `parse` */
export function readEncryptedPayload(value: JsonField, outer: Trace): EncryptedRequest {
  const payload = asObject(value)!;
  const state = ENCRYPTED_STATES.find((one) => one === payload.get('encrypted_state'));
  if (state === undefined) {
    const { detail } = unexpectedType(UNION, value, outer);
    throw new EncodeError('parse', 'bad_payload', detail);
  }
  const trace = within(UNION, outer);
  const request: EncryptedRequest = {
    kind: 'encrypted',
    state,
    payloadHash: hashField(payload.get('payload_hash'), trace),
    ciphertext: bytesField(payload.get('ciphertext'), trace),
    encryptionEpoch: u64Field(payload.get('encryption_epoch'), trace),
    claimedFunction: optionalField(
      payload.get('claimed_entry_fun'),
      'ClaimedEntryFunction',
      trace,
      readClaimedFunction,
    ),
  };
  if (state === 'decrypted') checkDecrypted(payload, trace);
  return request;
}

/** What was decrypted is never submitted again: only that it is there is looked at. */
function checkDecrypted(payload: JsonObject, trace: Trace): void {
  const decrypted = payload.get('decrypted_payload');
  if (asObject(decrypted) === undefined) {
    throw unexpectedType('TransactionPayload', decrypted, trace);
  }
  stringField(payload.get('decryption_nonce'), 'HexEncodedBytes', trace);
}

function readClaimedFunction(value: JsonValue, outer: Trace): ClaimedFunction {
  const claimed = asObject(value);
  if (claimed === undefined) throw unexpectedType('ClaimedEntryFunction', value, outer);
  const trace = within('ClaimedEntryFunction', outer);
  const module = moduleIdField(claimed.get('module'), trace);
  const name = optionalField(
    claimed.get('name'),
    'string(IdentifierWrapper)',
    trace,
    (text, nameTrace) => stringField(text, 'IdentifierWrapper', nameTrace),
  );
  return { module, name };
}
