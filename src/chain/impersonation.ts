/**
 * Accounts for which nobody has to sign. Their part of a transaction's authenticator is replaced by the reference's
 * `NoAccountAuthenticator`, so the ledger and the API show what it is, and no other chain would accept it. The key is
 * not checked, as in a simulation (src/execution/run-user-transaction.ts); everything else is.
 */
import { signatureState } from '../execution/authentication/valid-signatures.ts';
import { readSubmitted } from '../execution/simulated-transaction.ts';
import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { AccountAuthenticator } from '../move/crypto/authenticator.ts';
import { ADDRESS_BYTES, type Address } from '../move/types/address.ts';
import { type PendingTransaction, pendingTransaction } from './pending-transaction.ts';
import { vmRejection } from './submit-error.ts';

/** Variants of TransactionAuthenticator. */
const MULTI_AGENT = 2;
const FEE_PAYER = 3;
const SINGLE_SENDER = 4;
/** The variant of AccountAuthenticator without fields. */
const NO_ACCOUNT = Buffer.of(4);

export class Impersonation {
  readonly #accounts = new Set<Address>();
  isForAll = false;

  add(account: Address): void {
    this.#accounts.add(account);
  }

  remove(account: Address): void {
    this.#accounts.delete(account);
  }

  clear(): void {
    this.#accounts.clear();
    this.isForAll = false;
  }

  has(account: Address): boolean {
    return this.isForAll || this.#accounts.has(account);
  }

  /**
   * Reads a transaction in two forms: the one to try first, and the one to try if a key other than the account's has
   * signed.
   * @param signed BCS of the SignedTransaction
   * @throws SubmitError for signatures that are invalid even without those of these accounts
   */
  async read(signed: Buffer) {
    const { transaction, rawBytes } = readSubmitted(signed);
    const unsigned = this.#unsigned(signed);
    if ((await signatureState(transaction, rawBytes)) === 'valid') {
      return { first: pendingTransaction(transaction, signed), unsigned };
    }
    const state = unsigned && (await signatureState(unsigned.transaction, rawBytes, 'unknown'));
    if (state === undefined || state === 'invalid') throw vmRejection('INVALID_SIGNATURE');
    return { first: unsigned!, unsigned };
  }

  /**
   * A transaction without the signatures of these accounts; `undefined` if none of them is a signer.
   * @param signed BCS of the SignedTransaction
   */
  #unsigned(signed: Buffer): PendingTransaction | undefined {
    if (!this.isForAll && this.#accounts.size === 0) return undefined;
    const { transaction, rawBytes, authenticatorBytes } = readSubmitted(signed);
    const authenticator = this.#unsignedAuthenticator(transaction.raw.sender, authenticatorBytes);
    if (authenticator === undefined) return undefined;
    const bytes = Buffer.concat([rawBytes, authenticator]);
    return pendingTransaction(readSubmitted(bytes).transaction, bytes);
  }

  #unsignedAuthenticator(sender: Address, bytes: Buffer): Buffer | undefined {
    const reader = new BcsReader(bytes);
    const variant = reader.variant(SINGLE_SENDER + 1, 'TransactionAuthenticator');
    if (variant !== MULTI_AGENT && variant !== FEE_PAYER) {
      if (!this.has(sender)) return undefined;
      return Buffer.concat([Buffer.of(SINGLE_SENDER), NO_ACCOUNT]);
    }
    const readPart = () => partOf(reader, bytes);
    const own = readPart();
    const others = reader.vector(ADDRESS_BYTES, (inner) => inner.address());
    const parts = [own, ...reader.vector(1, readPart)];
    const signers = [sender, ...others];
    if (variant === FEE_PAYER) {
      signers.push(reader.address());
      parts.push(readPart());
    }
    if (!signers.some((signer) => this.has(signer))) return undefined;
    const changed = parts.map((part, at) => (this.has(signers[at]!) ? NO_ACCOUNT : part.bytes));
    // Every other account needs a signature.
    if (parts.some(({ kind }, at) => kind === 'noAccount' && !this.has(signers[at]!))) {
      return undefined;
    }
    return encodeBcs((writer) => {
      writer.uleb32(variant).fixed(changed[0]!);
      writer.vector(others, (to, address) => to.address(address));
      writer.vector(changed.slice(1, others.length + 1), (to, part) => to.fixed(part));
      if (variant === FEE_PAYER) writer.address(signers.at(-1)!).fixed(changed.at(-1)!);
    });
  }
}

interface Part {
  readonly kind: AccountAuthenticator['kind'];
  readonly bytes: Buffer;
}

function partOf(reader: BcsReader, bytes: Buffer): Part {
  const start = reader.offset;
  const { kind } = AccountAuthenticator.read(reader);
  return { kind, bytes: bytes.subarray(start, reader.offset) };
}
