/** Transactions of accounts of the recorded chain, for simulation. */
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import {
  ADDRESS_ONE,
  type Address,
  formatAddress,
  padAddress,
} from '../../src/move/types/address.ts';
import type { TestApi } from '../api/client.ts';
import { NEWEST_VERSION, referenceTransaction } from './reference-chain.ts';

/** Seconds since 1970: an hour after the newest block. */
export const LATER = 1_771_253_040n;
/** Has no account. */
export const RECEIVER = padAddress('5eed');

export interface KnownAccount {
  readonly address: Address;
  readonly publicKey: Buffer;
  readonly nextSequenceNumber: bigint;
  /** Octas. */
  readonly balance: bigint;
}

/** Two accounts of the chain that sign with an Ed25519 key, and have forty coins. */
export async function findAccounts(api: TestApi): Promise<KnownAccount[]> {
  const keys = new Map<Address, Buffer>();
  const counts = new Map<Address, number>();
  for (let version = 1; version <= NEWEST_VERSION; version += 1) {
    const { transaction } = readOnChainData(new BcsReader(referenceTransaction(version))).data;
    if (transaction.kind !== 'user') continue;
    const { raw, authenticator } = transaction.transaction;
    if (authenticator.kind !== 'ed25519') continue;
    keys.set(raw.sender, authenticator.publicKey);
    counts.set(raw.sender, (counts.get(raw.sender) ?? 0) + 1);
  }
  const found: KnownAccount[] = [];
  const most = [...keys.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!);
  for (const address of most) {
    const shown = formatAddress(address);
    const reply = await api.request(`/v1/accounts/${shown}`);
    const balance = await api.request(`/v1/accounts/${shown}/balance/0x1::aptos_coin::AptosCoin`);
    const { sequence_number: number, authentication_key: key } = reply.json();
    if (BigInt(balance.body) < 4_000_000_000n || key !== `0x${address}`) continue;
    const publicKey = keys.get(address)!;
    found.push({
      address,
      publicKey,
      nextSequenceNumber: BigInt(number),
      balance: BigInt(balance.body),
    });
    if (found.length === 2) break;
  }
  return found;
}

const u64 = (value: bigint): Buffer => encodeBcs((writer) => writer.u64(value));
export const addressBytes = (address: Address): Buffer => Buffer.from(address, 'hex');

export function transferTo(receiver: Address, amount: bigint): RawTransaction['payload'] {
  return {
    kind: 'entryFunction',
    module: { address: ADDRESS_ONE, name: 'aptos_account' },
    function: 'transfer',
    typeArguments: [],
    args: [addressBytes(receiver), u64(amount)],
  };
}

export function rawOf(sender: KnownAccount, changes: Partial<RawTransaction> = {}): RawTransaction {
  return {
    sender: sender.address,
    sequenceNumber: sender.nextSequenceNumber,
    payload: transferTo(RECEIVER, 1_000n),
    maxGasAmount: 200_000n,
    gasUnitPrice: 100n,
    expirationTimestampSecs: LATER,
    chainId: 4,
    ...changes,
  };
}

export const rawBytes = (raw: RawTransaction): Buffer => RawTransaction.encode(raw);

/** The authenticator of one key with a signature of zeros, without its account variant. */
export function zeroSigned({ publicKey }: Pick<KnownAccount, 'publicKey'>): Buffer {
  return encodeBcs((writer) => writer.uleb32(0).bytes(publicKey).bytes(Buffer.alloc(64)));
}
