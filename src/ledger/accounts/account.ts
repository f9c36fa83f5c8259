/** Accounts: sequence number and authentication key (docs/spec/http.md §1.5). */
import { type Address, addressBytes, formatAddress } from '../../move/types/address.ts';
import { ACCOUNT_TAG } from '../../move/types/framework-tag.ts';
import { physicalStateKey, resourceStateKey, stateKeyHash } from '../../move/types/state-key.ts';
import {
  type Account,
  accountCodec,
  isFeatureEnabled,
} from '../../move/values/framework-resource.ts';
import { decodeStored, LedgerError } from '../ledger-error.ts';
import { featuresAt } from '../modules/features.ts';
import type { PruningGuard } from '../pruning-guard.ts';

/** Accounts can exist without a resource: DEFAULT_ACCOUNT_RESOURCE of the reference's feature flags. */
const DEFAULT_ACCOUNT_FLAG = 91;
/** For an account that was never created: the first two creation numbers belong to its two streams. */
const DEFAULT_GUID_CREATION_NUMBER = 2n;

export interface AccountAnswer {
  readonly sequenceNumber: bigint;
  readonly authenticationKey: Uint8Array;
  /** BCS of `0x1::account::Account`: as stored, or of the default account. */
  readonly bytes: Uint8Array;
}

/**
 * The account at a version: its resource, or the default account if the chain allows that.
 * @throws LedgerError `account_not_found`; `internal_error` for a resource that does not decode
 */
export async function accountAt(
  guard: PruningGuard,
  address: Address,
  version: bigint,
): Promise<AccountAnswer> {
  const key = stateKeyHash(physicalStateKey(resourceStateKey(address, ACCOUNT_TAG)));
  const bytes = (await guard.state(address, key, version))?.bytes;
  if (bytes !== undefined) {
    const failure = 'Internal error deserializing response from DB: ';
    return answerOf(
      decodeStored(failure, () => accountCodec.decode(bytes)),
      bytes,
    );
  }
  const features = await featuresAt(guard, version);
  if (features === undefined || !isFeatureEnabled(features, DEFAULT_ACCOUNT_FLAG)) {
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
