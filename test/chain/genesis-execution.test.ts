/** Transactions on the default genesis: blocks, transfers, epochs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  CORE_RESOURCES,
  DEFAULT_SEED,
  ed25519Key,
  secretOf,
} from '../../src/chain/genesis/genesis-keys.ts';
import { validatorOf } from '../../src/chain/genesis/validator.ts';
import type { TransactionOutput } from '../../src/execution/execute.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { authenticationKey } from '../../src/move/crypto/authentication-key.ts';
import type { Transaction } from '../../src/move/transactions/transaction.ts';
import { ADDRESS_ONE, type Address, addressFromBytes } from '../../src/move/types/address.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { entryCall, GenesisChain, signed } from './genesis-chain.ts';

const START_USECS = 1_800_000_000_000_000n;
const SUCCESS = { kind: 'success' };

const PROPOSER = validatorOf(DEFAULT_SEED).address;

let chain: GenesisChain;
let round = 0n;

beforeAll(async () => {
  chain = await GenesisChain.open();
});
afterAll(() => chain.close());

/** Begins a block proposed by the only validator. */
function block(seconds: number, epoch: bigint): Transaction {
  round += 1n;
  return {
    kind: 'blockMetadata',
    metadata: {
      id: Buffer.alloc(32, Number(round)),
      epoch,
      round,
      proposer: PROPOSER,
      previousBlockVotesBitvec: Buffer.of(0x80),
      failedProposerIndices: [],
      timestampUsecs: START_USECS + BigInt(seconds) * 1_000_000n,
    },
  };
}

function typesOf({ events }: TransactionOutput): string[] {
  return events.map(({ typeTag }) =>
    typeTag.kind === 'struct' ? formatStructTag(typeTag.struct) : typeTag.kind,
  );
}

function transfer(receiver: Address, octas: bigint, sequenceNumber: bigint) {
  return {
    sender: CORE_RESOURCES,
    sequenceNumber,
    payload: entryCall('aptos_account', 'transfer', [
      encodeBcs((writer) => writer.address(receiver)),
      encodeBcs((writer) => writer.u64(octas)),
    ]),
    maxGasAmount: 10_000n,
    gasUnitPrice: 100n,
    expirationTimestampSecs: START_USECS / 1_000_000n + 30n,
    chainId: 4,
  };
}

const receiverKey = ed25519Key(secretOf('test', 'receiver'));
const receiver = addressFromBytes(
  authenticationKey({
    kind: 'ed25519',
    publicKey: receiverKey.publicKey,
    signature: Buffer.alloc(64),
  })!,
);

it('a block begins, by the validator of genesis', async () => {
  const { status, events } = await chain.run(block(0, 1n));
  expect(status).toEqual(SUCCESS);
  expect(events.length).toBeGreaterThan(0);
  const height = new BcsReader((await chain.resource(ADDRESS_ONE, '0x1::block::BlockResource'))!);
  expect(height.u64()).toBe(1n);
});

it('the core resources account pays with the mint key, and the receiver has an account', async () => {
  const before = await chain.balance(CORE_RESOURCES);
  const done = await chain.run(await signed(transfer(receiver, 100_000_000n, 0n)), 1);
  expect(done.status).toEqual(SUCCESS);
  expect(await chain.balance(receiver)).toBe(100_000_000n);
  expect(before - (await chain.balance(CORE_RESOURCES))).toBe(100_000_000n + done.gasUsed * 100n);
  expect(typesOf(done)).toContain('0x1::transaction_fee::FeeStatement');
});

it('the receiver sends something back', async () => {
  const raw = { ...transfer(CORE_RESOURCES, 1n, 0n), sender: receiver };
  const done = await chain.run(await signed(raw, receiverKey), 2);
  expect(done.status).toEqual(SUCCESS);
});

it('refuses what another key has signed', async () => {
  const { status } = await chain.run(await signed(transfer(receiver, 1n, 1n), receiverKey), 3);
  expect(status).toMatchObject({ kind: 'miscellaneousError', statusCode: 2n });
});

it('mints', async () => {
  const raw = {
    ...transfer(receiver, 0n, 1n),
    payload: entryCall('aptos_coin', 'mint', [
      encodeBcs((writer) => writer.address(receiver)),
      encodeBcs((writer) => writer.u64(5n)),
    ]),
  };
  const before = await chain.balance(receiver);
  expect((await chain.run(await signed(raw), 4)).status).toEqual(SUCCESS);
  expect((await chain.balance(receiver)) - before).toBe(5n);
});

it('a block ends, and its validator gets the fees', async () => {
  const done = await chain.run({
    kind: 'blockEpilogue',
    epilogue: {
      kind: 'v1',
      blockId: Buffer.alloc(32, 1),
      endInfo: {
        blockGasLimitReached: false,
        blockOutputLimitReached: false,
        effectiveBlockGasUnits: 10n,
        approxOutputSize: 1_000n,
      },
      feeDistribution: [{ validatorIndex: 0n, octas: 1_000n }],
    },
  });
  expect(done.status).toEqual(SUCCESS);
  expect(done.writes.length).toBeGreaterThan(0);
});

it('the epoch changes with the first block after a minute', async () => {
  expect(typesOf(await chain.run(block(59, 1n)))).not.toContain(
    '0x1::reconfiguration::NewEpochEvent',
  );
  const changed = await chain.run(block(61, 1n));
  expect(changed.status).toEqual(SUCCESS);
  expect(typesOf(changed)).toContain('0x1::reconfiguration::NewEpochEvent');
  const next = await chain.run(block(62, 2n));
  expect(next.status).toEqual(SUCCESS);
});

it('a block may bring randomness; epochs end by a transaction of the validators then', async () => {
  const { metadata } = block(123, 2n) as Extract<Transaction, { kind: 'blockMetadata' }>;
  const randomness = { epoch: 2n, round: metadata.round, bytes: Buffer.alloc(32, 7) };
  const begun = await chain.run({
    kind: 'blockMetadataExt',
    metadata: { kind: 'v1', metadata, randomness },
  });
  expect(begun.status).toEqual(SUCCESS);
  expect(typesOf(begun)).toContain('0x1::dkg::DKGStartEvent');
  const seed = await chain.resource(ADDRESS_ONE, '0x1::randomness::PerBlockRandomness');
  expect(seed!.includes(randomness.bytes)).toBe(true);
  const ended = await chain.run({
    kind: 'validator',
    transaction: { kind: 'dkgResult', epoch: 2n, author: PROPOSER, transcript: Buffer.of(1) },
  });
  expect(ended.status).toEqual(SUCCESS);
  expect(typesOf(ended)).toContain('0x1::reconfiguration::NewEpochEvent');
  expect((await chain.run(block(124, 3n))).status).toEqual(SUCCESS);
});
