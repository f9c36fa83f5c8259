/** Who signed a transaction, and with which keys. */
import { type Fields, fullAddress, type TransactionFacts } from './transaction-facts.ts';

export interface UsedKey {
  readonly publicKey: string;
  /** Absent if this key has not signed. */
  readonly signature: string | undefined;
  /** Such as `ed25519`. */
  readonly keyType: string;
  readonly index: number;
}

export interface Signer {
  readonly address: string;
  /** 0 for the sender, then the secondary signers, then the fee payer. */
  readonly index: number;
  readonly isSender: boolean;
  /** Such as `ed25519_signature`. */
  readonly type: string;
  readonly threshold: number;
  readonly keys: readonly UsedKey[];
}

export function signersOf({ sender, transaction: { signature } }: TransactionFacts): Signer[] {
  if (sender === undefined) return [];
  // Every committed transaction has a signature, except edits of a local network.
  if (signature === undefined || signature === null) return [signer(sender, {}, 0)];
  if (signature.sender === undefined) return [signer(sender, signature, 0)];
  const { secondary_signer_addresses: addresses, secondary_signers: secondary } = signature;
  const signers = [signer(sender, signature.sender, 0)];
  addresses.forEach((address: string, at: number) => {
    signers.push(signer(fullAddress(address), secondary[at], at + 1));
  });
  const { fee_payer_address: payer, fee_payer_signer: payerSignature } = signature;
  if (payer !== undefined) signers.push(signer(fullAddress(payer), payerSignature, signers.length));
  return signers;
}

/** The account that pays the fee of a sponsored transaction. */
export function feePayerOf({ transaction: { signature } }: TransactionFacts): string | undefined {
  const payer = signature?.fee_payer_address as string | undefined;
  return payer && fullAddress(payer);
}

/** The type of a whole signature; for a single sender, the type of the account's signature. */
export function signatureTypeOf({ transaction: { signature } }: TransactionFacts): string {
  return signature === undefined || signature === null ? '' : accountTypeOf(signature);
}

/** The type of a single sender's signature only follows from its members. */
function accountTypeOf(signature: Fields): string {
  if (signature.type !== 'single_sender') return signature.type;
  if (signature.signatures_required !== undefined) return 'multi_key_signature';
  if (signature.function_info !== undefined) return 'abstract_signature';
  if (signature.bitmap !== undefined) return 'multi_ed25519_signature';
  if (signature.public_key === undefined) return 'no_account_signature';
  return typeof signature.public_key === 'string' ? 'ed25519_signature' : 'single_key_signature';
}

function signer(address: string, signature: Fields, index: number): Signer {
  const type = signature.type === undefined ? '' : accountTypeOf(signature);
  const isSender = index === 0;
  const shared = { address, index, isSender, type };
  switch (type) {
    case 'ed25519_signature':
      return { ...shared, threshold: 1, keys: [ed25519Key(signature)] };
    case 'multi_ed25519_signature':
      return { ...shared, threshold: signature.threshold, keys: multiEd25519Keys(signature) };
    case 'single_key_signature':
      return { ...shared, threshold: 1, keys: [anyKey(signature)] };
    case 'multi_key_signature':
      return { ...shared, threshold: signature.signatures_required, keys: multiKeys(signature) };
    case 'abstract_signature': {
      const { function_info: publicKey, auth_data: data } = signature;
      const key = { publicKey, signature: data, keyType: 'abstraction', index: 0 };
      return { ...shared, threshold: 1, keys: [key] };
    }
    default:
      return { ...shared, threshold: 0, keys: [] };
  }
}

function ed25519Key({ public_key: publicKey, signature }: Fields): UsedKey {
  return { publicKey, signature, keyType: 'ed25519', index: 0 };
}

function anyKey({ public_key: key, signature }: Fields): UsedKey {
  return { publicKey: key.value, signature: signature.value, keyType: key.type, index: 0 };
}

/** The bitmap has one bit per key, the highest bit of a byte first. It is set if the key signed. */
function multiEd25519Keys({ public_keys: keys, signatures, bitmap }: Fields): UsedKey[] {
  const bytes = Buffer.from(bitmap.slice(2), 'hex');
  let used = 0;
  return keys.map((publicKey: string, index: number) => {
    const isUsed = ((bytes[index >> 3] ?? 0) & (0x80 >> (index & 7))) !== 0;
    const signature = isUsed ? signatures[used] : undefined;
    if (isUsed) used += 1;
    return { publicKey, signature, keyType: 'ed25519', index };
  });
}

function multiKeys({ public_keys: keys, signatures }: Fields): UsedKey[] {
  return keys.map((key: Fields, index: number) => {
    const used = signatures.find((one: Fields) => one.index === index);
    return { publicKey: key.value, signature: used?.signature.value, keyType: key.type, index };
  });
}
