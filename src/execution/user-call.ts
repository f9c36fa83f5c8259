/** The call that a transaction runs, and facts that code can query (docs/spec/vm.md §8.1). */
import type { AccountAuthenticator } from '../move/crypto/authenticator.ts';
import type { EntryFunction, Script } from '../move/transactions/executable.ts';
import type { RawTransaction, SignedTransaction } from '../move/transactions/user-transaction.ts';
import type { Address } from '../move/types/address.ts';
import type { TransactionFacts } from '../vm/world.ts';
import type { MultisigCall } from './multisig.ts';
import { ViewError } from './view-error.ts';

export type UserCall = EntryFunction | Script | MultisigCall;

/** @throws ViewError for payloads that are not simulated */
export function callOf({ payload }: RawTransaction): UserCall {
  const executable =
    payload.kind === 'payload'
      ? payload.executable
      : payload.kind === 'multisig'
        ? (payload.payload ?? EMPTY)
        : payload;
  const address =
    payload.kind === 'payload'
      ? payload.extraConfig.multisigAddress
      : payload.kind === 'multisig'
        ? payload.multisigAddress
        : undefined;
  if (executable.kind === 'entryFunction') {
    return address === undefined ? executable : { kind: 'multisig', address, payload: executable };
  }
  if (executable.kind === 'empty' && address !== undefined) {
    return { kind: 'multisig', address, payload: undefined };
  }
  if (executable.kind === 'script' && address === undefined) return executable;
  throw new ViewError('Transactions of this kind are not simulated by this node');
}

const EMPTY = { kind: 'empty' } as const;

/** Set only for an orderless transaction. */
export function nonceOf({ payload }: RawTransaction): bigint | undefined {
  return payload.kind === 'payload' ? payload.extraConfig.replayProtectionNonce : undefined;
}

export function factsOf(
  { raw, authenticator }: SignedTransaction,
  call: UserCall,
  nonce: bigint | undefined,
  index: number | undefined,
): TransactionFacts {
  const hasOthers = authenticator.kind === 'multiAgent' || authenticator.kind === 'feePayer';
  return {
    sender: raw.sender,
    secondarySigners: hasOthers ? authenticator.secondarySignerAddresses : [],
    gasPayer: gasPayerOf(raw.sender, authenticator),
    maxGasAmount: raw.maxGasAmount,
    gasUnitPrice: raw.gasUnitPrice,
    chainId: raw.chainId,
    isOrderless: nonce !== undefined,
    entryFunction: call.kind === 'entryFunction' ? call : undefined,
    multisig: call.kind === 'multisig' ? call : undefined,
    index,
  };
}

/** Whether nobody signs for one of the signers; only local networks commit such a transaction. */
export function isUnsigned({ authenticator }: SignedTransaction): boolean {
  if (!('sender' in authenticator)) return false;
  const hasNoSigner = ({ kind }: AccountAuthenticator) => kind === 'noAccount';
  if (hasNoSigner(authenticator.sender)) return true;
  if (authenticator.kind === 'singleSender') return false;
  const isPayer = authenticator.kind === 'feePayer' && hasNoSigner(authenticator.feePayer);
  return isPayer || authenticator.secondarySigners.some(hasNoSigner);
}

function gasPayerOf(sender: Address, authenticator: SignedTransaction['authenticator']): Address {
  return authenticator.kind === 'feePayer' ? authenticator.feePayerAddress : sender;
}
