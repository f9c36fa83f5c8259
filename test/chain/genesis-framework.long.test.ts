/**
 * The framework of the default genesis: its modules pass all checks, and have the same results as a newer framework.
 */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { buildGenesis } from '../../src/chain/genesis/build-genesis.ts';
import { DEFAULT_FEATURES } from '../../src/chain/genesis/features.ts';
import { CORE_RESOURCES, DEFAULT_SEED } from '../../src/chain/genesis/genesis-keys.ts';
import { validatorOf } from '../../src/chain/genesis/validator.ts';
import { decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import { DEFAULT_LOADER_LIMITS } from '../../src/move/modules/compiled.ts';
import { loadModule } from '../../src/move/modules/read.ts';
import { readOnChainData, type Transaction } from '../../src/move/transactions/transaction.ts';
import { publicationChecks } from '../../src/vm/publish/publication.ts';
import { verifierConfigOf } from '../../src/vm/verifier/model/verifier-config.ts';
import { IS_LONG } from '../random.ts';
import {
  NEWEST_VERSION,
  referenceTransaction,
  SIMULATIONS_CHAIN,
} from '../reference/reference-chain.ts';
import { verifyModule } from '../vm/verifier/verify-at-once.ts';
import { frameworkModules, genesisParts } from './framework.ts';
import { GenesisChain } from './genesis-chain.ts';

it('its modules could be published', async () => {
  const bundle = (await frameworkModules()).map((bytes) => ({
    module: loadModule(bytes, DEFAULT_LOADER_LIMITS),
    byteLength: bytes.length,
  }));
  const verifier = verifierConfigOf({
    isFeatureEnabled: (flag) => DEFAULT_FEATURES.has(flag),
    gasFeatureVersion: 52,
    bounds: 'revised',
  });
  for (const { module } of bundle) verifyModule(module, verifier);
  Array.from(publicationChecks(bundle, () => undefined));
});

/** The recorded versions after genesis. */
function recorded(newest: number, transaction: (version: number) => Buffer) {
  return Array.from(
    { length: newest },
    (_, at) => decodeBcs(transaction(at + 1), readOnChainData).data,
  );
}

/** The Ed25519 key that signed for the core resources account. */
function mintKeyIn(items: ReturnType<typeof recorded>): Buffer {
  for (const { transaction } of items) {
    if (transaction.kind !== 'user' || transaction.transaction.raw.sender !== CORE_RESOURCES)
      continue;
    const { authenticator } = transaction.transaction;
    if (authenticator.kind === 'ed25519') return authenticator.publicKey;
  }
  throw new Error('the core resources account has sent nothing');
}

const PROPOSER = validatorOf(DEFAULT_SEED).address;

/** The same block, proposed by the validator of the default genesis. */
function proposed(transaction: Transaction): Transaction {
  if (transaction.kind !== 'blockMetadata') return transaction;
  return { ...transaction, metadata: { ...transaction.metadata, proposer: PROPOSER } };
}

/**
 * Executes the transactions of a recorded chain on the default framework.
 * @returns their number, those with another status, and how many have the recorded gas
 */
async function executed(items: ReturnType<typeof recorded>) {
  const settings = { ...(await genesisParts()), mintPublicKey: mintKeyIn(items) };
  const chain = await GenesisChain.open((await buildGenesis(settings)).transaction);
  const others: unknown[] = [];
  let sameGas = 0;
  for (const { version, transaction, info } of items) {
    const { status, gasUsed } = await chain.run(proposed(transaction), 1);
    if (!isDeepStrictEqual(status, info.status))
      others.push({ version, status, recorded: info.status });
    if (gasUsed === info.gasUsed) sameGas += 1;
  }
  await chain.close();
  return { count: items.length, others, sameGas };
}

/** Newest version to execute: the whole recorded chain takes a minute. */
const [NEWEST, LEAST_SAME_GAS] = IS_LONG ? [NEWEST_VERSION, 1_200] : [300, 170];

describe('transactions of a chain with a newer framework have the recorded status', () => {
  it(`${NEWEST} versions of the recorded chain`, async () => {
    const found = await executed(recorded(NEWEST, referenceTransaction));
    expect(found.others).toEqual([]);
    expect(found.count).toBe(IS_LONG ? 1_532 : NEWEST);
    expect(found.sameGas).toBeGreaterThan(LEAST_SAME_GAS);
  });

  it('399 versions of the ledger of the simulations', async () => {
    const { newestVersion, transaction } = SIMULATIONS_CHAIN;
    const found = await executed(recorded(newestVersion, transaction));
    expect(found.others).toEqual([]);
    expect(found.sameGas).toBeGreaterThan(280);
  });
});
