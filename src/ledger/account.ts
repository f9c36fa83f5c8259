/** Accounts: sequence number and authentication key (docs/spec/http.md §1.5). */

import { BcsError } from '../move/bcs/bcs-reader.ts';
import { type Address, addressBytes, formatAddress } from '../move/types/address.ts';
import { ACCOUNT_TAG } from '../move/types/framework-tag.ts';
import { physicalStateKey, resourceStateKey, stateKeyHash } from '../move/types/state-key.ts';
import {
  type Account,
  accountCodec,
  featuresCodec,
  isFeatureEnabled,
} from '../move/values/framework-resource.ts';
import type { AccountAnswer } from './api-contract.ts';
import { LedgerError } from './ledger-error.ts';
import { FEATURES_KEY_HASH } from './loader-limits.ts';
import type { StateReader } from './state-reader.ts';

/** Accounts exist without a resource of their own: DEFAULT_ACCOUNT_RESOURCE of the reference's feature flags. */
const DEFAULT_ACCOUNT_FLAG = 91;
/** Of an account that was never created: its first two numbers are those of its two streams. */
const DEFAULT_GUID_CREATION_NUMBER = 2n;

/** Readers of the account's own keys and of the chain's. */
export interface AccountReaders {
  readonly own: StateReader;
  readonly chain: StateReader;
}

/**
 * The account at a version: its resource, or the default of one that has none where the chain allows that.
 * @throws LedgerError `account_not_found`; `internal_error` for a resource that does not decode
 */
export async function accountAt(
  { own, chain }: AccountReaders,
  address: Address,
  version: bigint,
): Promise<AccountAnswer> {
  const key = resourceStateKey(address, ACCOUNT_TAG);
  const entry = await own(stateKeyHash(physicalStateKey(key)), version);
  if (entry?.bytes !== undefined) return answerOf(decodeAccount(entry.bytes), entry.bytes);
  if (!(await allowsDefaults(chain, version))) {
    throw new LedgerError(
      'account_not_found',
      `Account not found by Address(${formatAddress(address)}) and Ledger version(${version})`,
    );
  }
  const account = defaultAccount(address);
  return answerOf(account, accountCodec.encode(account));
}

function answerOf(account: Account, bytes: Uint8Array): AccountAnswer {
  const { sequenceNumber, authenticationKey } = account;
  return { sequenceNumber, authenticationKey, bytes };
}

function decodeAccount(bytes: Uint8Array): Account {
  try {
    return accountCodec.decode(bytes);
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    const message = `Internal error deserializing response from DB: ${cause.detail}`;
    throw new LedgerError('internal_error', message, { cause });
  }
}

async function allowsDefaults(state: StateReader, version: bigint): Promise<boolean> {
  const entry = await state(FEATURES_KEY_HASH, version);
  if (entry?.bytes === undefined) return false;
  try {
    return isFeatureEnabled(featuresCodec.decode(entry.bytes), DEFAULT_ACCOUNT_FLAG);
  } catch (error) {
    if (error instanceof BcsError) return false;
    throw error;
  }
}

function defaultAccount(address: Address): Account {
  const handle = (creationNumber: bigint) => ({
    counter: 0n,
    key: { creationNumber, address },
  });
  return {
    authenticationKey: addressBytes(address),
    sequenceNumber: 0n,
    guidCreationNumber: DEFAULT_GUID_CREATION_NUMBER,
    coinRegisterEvents: handle(0n),
    keyRotationEvents: handle(1n),
    rotationCapabilityOffer: undefined,
    signerCapabilityOffer: undefined,
  };
}
