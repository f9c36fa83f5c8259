/** The default genesis: its contents, compared with the genesis of the recorded chain, and what its ledger serves. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { buildGenesis } from '../../src/chain/genesis/build-genesis.ts';
import { mintKey } from '../../src/chain/genesis/genesis-keys.ts';
import { type Genesis, readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { DEFAULT_LOADER_LIMITS as LIMITS, moduleIdOf } from '../../src/move/modules/compiled.ts';
import { loadModule } from '../../src/move/modules/read.ts';
import { writtenValue } from '../../src/move/transactions/write-set.ts';
import { formatAddress } from '../../src/move/types/address.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { TestApi } from '../api/client.ts';
import { LogLines } from '../api/error-answers.ts';
import { apiSettings } from '../api/settings.ts';
import { openTestedLedger, openTestedReader } from '../api/tested-ledger.ts';
import { NO_LOAD_BOUNDS } from '../api/unbounded.ts';
import { referenceFile } from '../reference/reference-chain.ts';
import { frameworkBytecodes } from '../vm/framework.ts';
import { genesisParts, madeGenesis } from './framework.ts';
import { storeGenesis } from './genesis-chain.ts';

function nameOf(bytes: Uint8Array): string {
  return moduleIdOf(loadModule(bytes, LIMITS)).name;
}

describe('the default genesis', () => {
  it('has all modules, and is made of all functions', async () => {
    const { transaction, skipped } = await madeGenesis();
    expect(skipped).toEqual([]);
    const { chainId, counts } = readGenesis(transaction);
    expect({ chainId, counts }).toEqual({
      chainId: 4,
      counts: { modules: 137, resources: 71, resourceGroups: 4, tableItems: 5, events: 13 },
    });
  });

  it('is the same each time', async () => {
    const again = await buildGenesis(await genesisParts());
    expect(again.transaction.equals((await madeGenesis()).transaction)).toBe(true);
  });

  it('leaves out what a framework has no function for', async () => {
    const parts = await genesisParts();
    const modules = parts.modules.filter((bytes) => nameOf(bytes) !== 'randomness_api_v0_config');
    const { skipped } = await buildGenesis({ ...parts, modules });
    expect(skipped).toEqual(['randomness_api_v0_config::initialize']);
  });

  it('can be made of a newer framework, too: that of the recorded chain', async () => {
    const modules = frameworkBytecodes()
      .map((bytes) => Buffer.from(bytes))
      .filter((bytes) => !/[57]$/.test(moduleIdOf(loadModule(bytes, LIMITS)).address));
    const { skipped } = await buildGenesis({ ...(await genesisParts()), modules });
    expect(skipped).toEqual([]);
  });
});

/** The resources of a genesis except for its validator's, by address and type. */
function resourcesOf(genesis: Genesis): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { key, op } of genesis.writes()) {
    if (key.kind !== 'accessPath' || key.parsed === undefined || key.parsed.kind === 'code')
      continue;
    const name = `${formatAddress(key.address)} ${formatStructTag(key.parsed.tag)}`;
    found.set(name, writtenValue(op)!.bytes.toString('hex'));
  }
  return found;
}

it('has the resources of the genesis of the recorded chain, whose framework is newer', async () => {
  const own = resourcesOf(readGenesis((await madeGenesis()).transaction));
  const recorded = resourcesOf(readGenesis(referenceFile('genesis.blob')));
  const ofValidator = (name: string) => /^0x[0-9a-f]{64} /.test(name);
  const names = [...own.keys()].filter((name) => !ofValidator(name));
  expect(names.filter((name) => own.get(name) !== recorded.get(name)).sort()).toEqual(
    [
      // Parts that the framework lacks.
      '0x1 0x1::account_abstraction::DerivableDispatchableAuthenticator',
      '0x1 0x1::features::Features',
      // Other settings: epochs of a minute, no limit on stakes, no key of a provider.
      '0x1 0x1::block::BlockResource',
      '0x1 0x1::jwk_consensus_config::JWKConsensusConfig',
      '0x1 0x1::jwks::PatchedJWKs',
      '0x1 0x1::jwks::Patches',
      '0x1 0x1::staking_config::StakingConfig',
      '0x1 0x1::staking_config::StakingRewardsConfig',
      // Other keys.
      '0x1 0x1::stake::ValidatorSet',
      '0xa550c18 0x1::account::Account',
      // Published without sources.
      '0x1 0x1::code::PackageRegistry',
      '0x3 0x1::code::PackageRegistry',
      '0x4 0x1::code::PackageRegistry',
    ].sort(),
  );
  expect(
    [...recorded.keys()].filter((name) => !ofValidator(name) && !own.has(name)).sort(),
  ).toEqual([
    '0x1 0x1::chunky_dkg::ChunkyDKGState',
    '0x1 0x1::chunky_dkg_config::ChunkyDKGConfig',
    '0x1 0x1::chunky_dkg_config_seqnum::ChunkyDKGConfigSeqNum',
    '0x1 0x1::confidential_asset::GlobalConfig',
    '0x1 0x1::decryption::PerBlockDecryptionKey',
    '0x1 0x1::decryption::PerEpochEncryptionKey',
    '0x1 0x1::epoch_timeout_config::EpochTimeoutConfig',
    '0x1 0x1::transaction_limits::TxnLimitsConfig',
    '0x5 0x1::code::PackageRegistry',
    '0x7 0x1::code::PackageRegistry',
  ]);
});

describe('a ledger that begins with it', () => {
  let folder: string;
  let store: StoreReader;
  let api: TestApi;
  beforeAll(async () => {
    folder = await storeGenesis();
    store = await openTestedReader({ directory: folder });
    api = new TestApi(
      buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), new LogLines()),
    );
  });
  afterAll(async () => {
    await api.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const json = async (url: string) => JSON.parse((await api.request({ url })).body);

  it('has chain id 4, epoch 0 and block 0', async () => {
    expect(await json('/v1')).toMatchObject({
      chain_id: 4,
      epoch: '0',
      ledger_version: '0',
      block_height: '0',
      ledger_timestamp: '0',
    });
  });

  it('serves the modules of the framework', async () => {
    const names = async (address: string) =>
      (await json(`/v1/accounts/${address}/modules?limit=9999`)).map(
        ({ abi }: { abi: { name: string } }) => abi.name,
      );
    expect(await names('0x1')).toHaveLength(127);
    expect(await names('0x3')).toContain('token');
    expect(await names('0x4')).toContain('aptos_token');
  });

  it('serves the packages, whose dependencies have packages', async () => {
    const packages = await Promise.all(
      ['0x1', '0x3', '0x4'].map(async (address) => {
        const url = `/v1/accounts/${address}/resource/0x1::code::PackageRegistry`;
        return (await json(url)).data.packages;
      }),
    );
    const all = packages.flat();
    expect(all.map(({ name }: { name: string }) => name)).toEqual([
      'MoveStdlib',
      'AptosStdlib',
      'AptosFramework',
      'AptosToken',
      'AptosTokenObjects',
    ]);
    expect(all.flatMap(({ modules }: { modules: unknown[] }) => modules)).toHaveLength(137);
    expect(all.map((one: { upgrade_policy: { policy: number } }) => one.upgrade_policy)).toEqual(
      all.map(() => ({ policy: 1 })),
    );
  });

  it('has a core resources account with the mint key and much APT', async () => {
    const account = await json('/v1/accounts/0xa550c18');
    expect(account.sequence_number).toBe('0');
    const url = '/v1/accounts/0xa550c18/balance/0x1::aptos_coin::AptosCoin';
    expect((await api.request({ url })).body).toBe('18446744073709551615');
    expect(mintKey().publicKey).toHaveLength(32);
    expect(
      await json('/v1/accounts/0xa550c18/resource/0x1::aptos_coin::MintCapStore'),
    ).toBeTruthy();
  });
});
