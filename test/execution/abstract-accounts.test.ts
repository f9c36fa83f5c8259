/** Accounts authenticated by a function (docs/spec/vm.md §8.9), with modules of the recorded chain. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { DerivableAbstractedAccount } from '@aptos-labs/ts-sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gasPrices } from '../../src/execution/gas-settings.ts';
import type { UserTransactionOutput } from '../../src/execution/run-user-transaction.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { authenticationKey } from '../../src/move/crypto/authentication-key.ts';
import type { AccountAuthenticator } from '../../src/move/crypto/authenticator.ts';
import type { AnyPublicKey, AnySignature } from '../../src/move/crypto/public-key.ts';
import { Transaction } from '../../src/move/transactions/transaction.ts';
import type {
  RawTransaction,
  SignedTransaction,
} from '../../src/move/transactions/user-transaction.ts';
import { ADDRESS_ONE, type Address, padAddress } from '../../src/move/types/address.ts';
import { scaleOf } from '../../src/vm/gas/gas-meter.ts';
import { STATUS, type StatusName } from '../../src/vm/status/status.ts';
import { ByteVector, Reference, type Value } from '../../src/vm/value.ts';
import { recordedLines, serveReferenceChain } from '../reference/reference-chain.ts';
import {
  findAccounts,
  type KnownAccount,
  RECEIVER,
  rawOf,
  transferTo,
} from '../reference/simulation-requests.ts';
import { ChangingChain } from './changing-chain.ts';

const PERMISSIONED_SIGNER = 84n;
const ABSTRACTION = 85n;
const DERIVABLE = 88n;
const NEVER_SECS = 10_000_000_000n;
const DELEGATION = 'permissioned_delegation';
const HEX = 'test_derivable_account_abstraction_ed25519_hex';
const EXPERIMENTAL = padAddress('7');
const DIGEST = Buffer.alloc(32, 5);
/** Octas. */
const GAS_ALLOWED = 30_000_000n;
const COINS_ALLOWED = 1_000n;

const bytesOf = (of: Uint8Array): ByteVector => new ByteVector(Uint8Array.from(of));
const textOf = (of: string): Value => [bytesOf(Buffer.from(of))];
const referenceTo = (value: Value): Value => new Reference([value], 0);
const signerOf = (address: Address): Value => referenceTo([address]);

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const KEY = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');

let chain: ChangingChain;
let account: KnownAccount;
let payer: KnownAccount;
let start: ReturnType<ChangingChain['save']>;

const setFeatures = (enabled: bigint[], disabled: bigint[]) =>
  chain.run('features', 'change_feature_flags_internal', [
    signerOf(ADDRESS_ONE),
    enabled,
    disabled,
  ]);

beforeAll(async () => {
  const served = await serveReferenceChain();
  [account, payer] = (await findAccounts(served.api)) as [KnownAccount, KnownAccount];
  await served.close();
  chain = await ChangingChain.open();
  await setFeatures([PERMISSIONED_SIGNER, ABSTRACTION, DERIVABLE], []);
  start = chain.save();
});
afterAll(() => chain.close());
beforeEach(() => chain.revert(start));

function abstract(
  module: string,
  data: Extract<AccountAuthenticator, { kind: 'abstract' }>['data'],
): AccountAuthenticator {
  const moduleAddress = module === HEX ? EXPERIMENTAL : ADDRESS_ONE;
  return {
    kind: 'abstract',
    moduleAddress,
    moduleName: module,
    functionName: 'authenticate',
    data,
  };
}

/** An authenticator with the key to which the account has delegated. */
function delegated(signature = sign(null, DIGEST, privateKey)): AccountAuthenticator {
  return abstract(DELEGATION, {
    kind: 'v1',
    signingMessageDigest: DIGEST,
    signature: encodeBcs((writer) => writer.bytes(KEY).bytes(signature)),
  });
}

const sentBy = (
  sender: AccountAuthenticator,
  changes: Partial<RawTransaction> = {},
): SignedTransaction => ({
  raw: rawOf(account, changes),
  authenticator: { kind: 'singleSender', sender },
});

const ofKey = ({ publicKey: key }: KnownAccount): AccountAuthenticator => ({
  kind: 'ed25519',
  publicKey: key,
  signature: Buffer.alloc(64),
});

function expectDiscarded(
  { status, gasUsed, writes }: UserTransactionOutput,
  name: StatusName,
): void {
  expect(status).toEqual({ kind: 'miscellaneousError', statusCode: BigInt(STATUS[name]) });
  expect([gasUsed, writes]).toEqual([0n, []]);
}

/** Makes the account delegate to the key, and gives it coins for gas. */
async function delegate(): Promise<void> {
  const master = signerOf(account.address);
  const key: Value = [0, [bytesOf(KEY)]];
  const none: Value = [0];
  const [permissioned] = await chain.run(DELEGATION, 'add_permissioned_handle', [
    master,
    key,
    none,
    NEVER_SECS,
  ]);
  expect(permissioned).toEqual([account.address, expect.any(String)]);
  const limited = referenceTo(permissioned!);
  const gas = [master, limited, GAS_ALLOWED];
  await chain.run('transaction_validation', 'grant_gas_permission', gas);
  const coins = [master, limited, COINS_ALLOWED];
  await chain.run('primary_fungible_store', 'grant_apt_permission', coins);
  await register();
}

const register = () =>
  chain.run('account_abstraction', 'add_authentication_function', [
    signerOf(account.address),
    ADDRESS_ONE,
    textOf(DELEGATION),
    textOf('authenticate'),
  ]);

const SUCCESS = { kind: 'success' };

/** The key and the signature of a real transaction. */
function keylessExample() {
  const lines = recordedLines<{ id?: string; bcs_transaction?: string }>(
    'vectors/transactions.jsonl',
  );
  const { bcs_transaction: bytes } = lines.find(({ id }) => id === 'mainnet/976087151')!;
  const transaction = Transaction.read(new BcsReader(Buffer.from(bytes!, 'hex')));
  if (transaction.kind !== 'user') throw new Error('not of a user');
  const { authenticator } = transaction.transaction;
  const sender = authenticator.kind === 'singleSender' ? authenticator.sender : undefined;
  if (sender?.kind !== 'singleKey') throw new Error('not of a single key');
  return sender;
}

describe('an account with an authentication function', () => {
  it('acts as far as the signer that the function gives may', async () => {
    await delegate();
    const spent = await chain.execute(sentBy(delegated()));
    expect(spent.status).toEqual(SUCCESS);
    const plain = await chain.execute(sentBy(ofKey(account)));
    expect(plain.status).toEqual(SUCCESS);
    expect(spent.gasUsed > plain.gasUsed).toBe(true);
    const payload = transferTo(RECEIVER, COINS_ALLOWED + 1n);
    const refused = await chain.execute(sentBy(delegated(), { payload }));
    expect(refused.status).toMatchObject({ kind: 'moveAbort' });
    expect(refused.gasUsed > 0n).toBe(true);
    expect((await chain.execute(sentBy(ofKey(account), { payload }))).status).toEqual(SUCCESS);
    chain.apply(spent.writes);
    const sequenceNumber = account.nextSequenceNumber + 1n;
    const again = await chain.execute(sentBy(delegated(), { sequenceNumber }));
    expect(again.status).toMatchObject({ kind: 'moveAbort' });
  });

  it('is simulated alike, but for a number in its block', async () => {
    await delegate();
    const transaction = sentBy(delegated());
    const [simulated, executed] = [
      await chain.runUserTransaction(transaction),
      await chain.execute(transaction),
    ];
    expect(simulated.status).toEqual(SUCCESS);
    expect(simulated.gasUsed).toBe(executed.gasUsed);
  });

  it('is refused where the function refuses it', async () => {
    await delegate();
    expectDiscarded(await chain.execute(sentBy(delegated(Buffer.alloc(64)))), 'ABORTED');
    const elsewhere = abstract('account', {
      kind: 'v1',
      signingMessageDigest: DIGEST,
      signature: KEY,
    });
    expectDiscarded(await chain.execute(sentBy(elsewhere)), 'ABORTED');
  });

  it('is refused without such a function, and without what it has to pay', async () => {
    expectDiscarded(await chain.execute(sentBy(delegated())), 'ABORTED');
    await register();
    expectDiscarded(await chain.execute(sentBy(delegated())), 'ABORTED');
    chain.revert(start);
    await delegate();
    const maxGasAmount = GAS_ALLOWED / 100n + 1n;
    const poor = await chain.execute(sentBy(delegated(), { maxGasAmount }));
    expectDiscarded(poor, 'UNEXPECTED_ERROR_FROM_KNOWN_MOVE_FUNCTION');
  });

  it('has a limit of gas, which comes before all other checks of gas', async () => {
    await delegate();
    const poor = await chain.execute(sentBy(delegated(), { maxGasAmount: 1n }));
    expectDiscarded(poor, 'ACCOUNT_AUTHENTICATION_GAS_LIMIT_EXCEEDED');
    const ofOwner = await chain.execute(sentBy(ofKey(account), { maxGasAmount: 1n }));
    expectDiscarded(ofOwner, 'MAX_GAS_UNITS_BELOW_MIN_TRANSACTION_GAS_UNITS');
  });

  it('needs the feature', async () => {
    await delegate();
    await setFeatures([], [ABSTRACTION]);
    expectDiscarded(await chain.execute(sentBy(delegated())), 'FEATURE_UNDER_GATING');
    expect((await chain.execute(sentBy(ofKey(account)))).status).toEqual(SUCCESS);
  });

  it('pays for others', async () => {
    await delegate();
    const paidBy = (feePayer: AccountAuthenticator): SignedTransaction => ({
      raw: rawOf(payer),
      authenticator: {
        kind: 'feePayer',
        sender: ofKey(payer),
        secondarySignerAddresses: [],
        secondarySigners: [],
        feePayerAddress: account.address,
        feePayer,
      },
    });
    expect((await chain.execute(paidBy(delegated()))).status).toEqual(SUCCESS);
    expectDiscarded(await chain.execute(paidBy(delegated(Buffer.alloc(64)))), 'ABORTED');
  });
});

describe('an account whose address follows from a function and a key', () => {
  const derived = (module: string, signature: Buffer): SignedTransaction => {
    const name = `${module === HEX ? '0x7' : '0x1'}::${module}::authenticate`;
    const address = DerivableAbstractedAccount.computeAccountAddress(name, KEY);
    const sender = padAddress(Buffer.from(address).toString('hex'));
    const changes = { sender, sequenceNumber: 0n, payload: transferTo(RECEIVER, 0n) };
    return {
      raw: rawOf(account, changes),
      authenticator: {
        kind: 'feePayer',
        sender: abstract(module, {
          kind: 'derivableV1',
          signingMessageDigest: DIGEST,
          signature,
          publicKey: KEY,
        }),
        secondarySignerAddresses: [],
        secondarySigners: [],
        feePayerAddress: payer.address,
        feePayer: ofKey(payer),
      },
    };
  };
  const signature = sign(null, Buffer.from(`0x${DIGEST.toString('hex')}`), privateKey);

  it('exists with its first transaction, if the chain knows the function', async () => {
    expect((await chain.execute(derived(HEX, signature))).status).toEqual(SUCCESS);
    expectDiscarded(await chain.execute(derived(HEX, Buffer.alloc(64))), 'ABORTED');
    expectDiscarded(await chain.execute(derived(DELEGATION, signature)), 'ABORTED');
  });

  it('has no other address, and needs the feature', async () => {
    const { raw, authenticator } = derived(HEX, signature);
    const elsewhere = { raw: { ...raw, sender: padAddress('9') }, authenticator };
    expectDiscarded(await chain.execute(elsewhere), 'ABORTED');
    await setFeatures([], [DERIVABLE]);
    expectDiscarded(await chain.execute(derived(HEX, signature)), 'FEATURE_UNDER_GATING');
  });
});

describe('a scheme of signatures', () => {
  const byAnyKey = (publicKey: AnyPublicKey, signature: AnySignature): SignedTransaction => {
    const sender: AccountAuthenticator = { kind: 'singleKey', publicKey, signature };
    const address = padAddress(authenticationKey(sender)!.toString('hex'));
    return {
      raw: rawOf(account, {
        sender: address,
        sequenceNumber: 0n,
        payload: transferTo(RECEIVER, 0n),
      }),
      authenticator: {
        kind: 'feePayer',
        sender,
        secondarySignerAddresses: [],
        secondarySigners: [],
        feePayerAddress: payer.address,
        feePayer: ofKey(payer),
      },
    };
  };
  const keyless = keylessExample();
  const slhDsa = (bytes: number) => ({ kind: 'slhDsa', bytes: Buffer.alloc(bytes) }) as const;

  it('costs what the schedule says, once', async () => {
    const { guard, modules } = chain.place();
    const { prices } = await gasPrices(guard, modules.version);
    const gas = async (transaction: SignedTransaction) => {
      const { status, gasUsed } = await chain.runUserTransaction(transaction);
      expect(status).toEqual(SUCCESS);
      return Number(gasUsed);
    };
    const plain = await gas(
      byAnyKey({ kind: 'ed25519', bytes: KEY }, { kind: 'ed25519', bytes: Buffer.alloc(64) }),
    );
    const more = (name: string) => prices.of(`txn.${name}.base`) / scaleOf(prices);
    expect(more('keyless')).toBeGreaterThan(1);
    const ofKeyless = await gas(byAnyKey(keyless.publicKey, keyless.signature));
    expect(Math.abs(ofKeyless - plain - more('keyless'))).toBeLessThan(1);
    const ofSlhDsa = await gas(byAnyKey(slhDsa(32), slhDsa(7_856)));
    expect(Math.abs(ofSlhDsa - plain - more('slh_dsa_sha2_128s'))).toBeLessThan(1);
  });

  it('is refused where the state does not know what it needs', async () => {
    const unknown = byAnyKey(keyless.publicKey, keyless.signature);
    expectDiscarded(await chain.execute(unknown), 'INVALID_SIGNATURE');
    await setFeatures([], [107n]);
    const gated = byAnyKey(slhDsa(32), slhDsa(7_856));
    expectDiscarded(await chain.execute(gated), 'FEATURE_UNDER_GATING');
    expect((await chain.runUserTransaction(gated)).status).toEqual(SUCCESS);
  });
});

it('signatures that are not those of a multi-key are refused, also when simulated', async () => {
  const ofMultiKey: AccountAuthenticator = {
    kind: 'multiKey',
    publicKeys: [{ kind: 'ed25519', bytes: KEY }],
    signaturesRequired: 1,
    signatures: [],
    bitmap: Buffer.of(0),
  };
  expectDiscarded(await chain.runUserTransaction(sentBy(ofMultiKey)), 'INVALID_SIGNATURE');
});

it('as many authenticate as sign', async () => {
  const { raw } = sentBy(ofKey(account));
  const transaction: SignedTransaction = {
    raw,
    authenticator: {
      kind: 'multiAgent',
      sender: ofKey(account),
      secondarySignerAddresses: [payer.address],
      secondarySigners: [],
    },
  };
  expectDiscarded(await chain.execute(transaction), 'INVALID_NUMBER_OF_AUTHENTICATION_PROOFS');
});
