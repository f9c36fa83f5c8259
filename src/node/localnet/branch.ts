/**
 * The parts that run on the ledger of a local network: its chain, the interface, the faucet. A revert ends one
 * branch and begins another.
 */
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { Api } from '../../api/http/server.ts';
import { keyEdit } from '../../chain/chain-edits.ts';
import type { ChainWatch } from '../../chain/chain-watch.ts';
import { Faucet, type Funder } from '../../chain/faucet.ts';
import {
  CORE_RESOURCES,
  DEFAULT_SEED,
  type Ed25519Key,
  ed25519Key,
  mintKey,
  secretOf,
} from '../../chain/genesis/genesis-keys.ts';
import type { Impersonation } from '../../chain/impersonation.ts';
import type { ChainMemory, LocalChain, Mining } from '../../chain/local-chain.ts';
import { CoinAsset } from '../../ledger/balances/balance.ts';
import { type LedgerReader, newCaches, openLedger } from '../../ledger/open.ts';
import { balanceEdit } from '../../ledger/overrides/state-edits.ts';
import { authenticationKey } from '../../move/crypto/authentication-key.ts';
import { type Address, addressFromBytes } from '../../move/types/address.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';
import { LEDGER_IDENTITY } from '../../store/columns/identity-column.ts';
import type { StoreReader } from '../../store/store.ts';
import { LedgerWriter } from '../../store/write/writer.ts';
import { openLocalChain, submissionsTo } from '../local-chain.ts';
import { openStoreWriter } from '../open-store.ts';
import { openInterface } from '../serve/http-interface.ts';
import { type NodeSettings, packageVersion } from '../settings/settings.ts';
import { StopList } from '../shutdown.ts';
import type { LedgerPlace } from './forked-ledger.ts';

export interface LocalAccount {
  readonly address: Address;
  readonly key: Ed25519Key;
}

export interface BranchOptions {
  readonly settings: NodeSettings;
  readonly logger: Logger;
  readonly place: LedgerPlace;
  readonly mining: Mining;
  readonly impersonation: Impersonation;
  /** Accounts without coins get some, unless another branch preceded. */
  readonly accounts: readonly LocalAccount[];
  readonly seed: string;
  /** The memory of the previous branch, if the ledger is the same. */
  readonly memory?: ChainMemory | undefined;
  readonly watch?: ChainWatch | undefined;
  readonly server?: Server | undefined;
}

export interface Branch {
  readonly chain: LocalChain;
  readonly chainId: number;
  readonly faucet: Faucet;
  readonly api: Api;
  readonly ledger: LedgerReader;
  close(): Promise<void>;
}

export const APT = '0x1::aptos_coin::AptosCoin';
/** Octas that each of the first accounts gets. */
const FIRST_OCTAS = 1_000_000_000_000n;
/** Accounts that one transaction gives coins: twice as many would need more gas than one may use. */
const FUNDED_AT_ONCE = 40;
/** Octas of the funding account if genesis has given it none. */
const FUNDER_OCTAS = 10_000_000_000_000_000n;

export async function openBranch(options: BranchOptions): Promise<Branch> {
  const { settings, logger, place, accounts, seed, server } = options;
  const { openSource, firstVersion } = place;
  const stopList = new StopList();
  try {
    const store = await openStoreWriter(place.folder);
    stopList.add('the store', () => store.close());
    const writer = await LedgerWriter.open(store);
    const onPlace = { ...options, openSource, firstVersion };
    const chain = await openLocalChain(writer, onPlace, logger, stopList);
    const { chainId } = (await LEDGER_IDENTITY.get(store))!;
    const faucet = new Faucet(chain, chainId, await funderOf(chain, seed));
    if (options.memory === undefined)
      await fund(faucet, chain, await poorOf(store, place, accounts));
    const gitHash = `daybook-${packageVersion()}`;
    const observer = options.watch?.runs;
    const facts = { isControlled: true, firstVersion, observer };
    const served = { store, openSource, chain: submissionsTo(chain), gitHash, ...facts };
    const { api, ledger } = await openInterface(
      served,
      settings,
      logger,
      stopList,
      undefined,
      server,
    );
    return { chain, chainId, faucet, api, ledger, close: () => stopList.stop() };
  } catch (error) {
    await stopList.stop();
    throw error;
  }
}

/** The accounts without coins: all at the first start, later those that were added. */
async function poorOf(
  store: StoreReader,
  { openSource }: LedgerPlace,
  accounts: readonly LocalAccount[],
): Promise<readonly Address[]> {
  const view = await openLedger(store, newCaches(), openSource).view();
  const asset = new CoinAsset(parseStructTag(APT));
  const poor: Address[] = [];
  for (const { address } of accounts) {
    const balance = await view.balance(address, asset, view.state.version);
    if (balance === 0n) poor.push(address);
  }
  return poor;
}

async function fund(faucet: Faucet, chain: LocalChain, poor: readonly Address[]): Promise<void> {
  for (let from = 0; from < poor.length; from += FUNDED_AT_ONCE) {
    const receivers = poor.slice(from, from + FUNDED_AT_ONCE);
    if (faucet.funder.address === CORE_RESOURCES) await faucet.fundAll(receivers, FIRST_OCTAS);
    // Old frameworks cannot send to several receivers at once.
    else for (const receiver of receivers) await faucet.fund(receiver, FIRST_OCTAS);
    await chain.mine();
  }
}

export function accountOf(key: Ed25519Key): LocalAccount {
  return { key, address: addressFromBytes(keyOf(key)) };
}

export function firstAccounts(seed: string, count: number): LocalAccount[] {
  return Array.from({ length: count }, (_, index) =>
    accountOf(ed25519Key(secretOf(seed, `account ${index}`))),
  );
}

/**
 * The account of the default genesis that may mint. On another chain it is one of the network's own, whose first use
 * gives it its key and coins by edits of the state.
 */
async function funderOf(chain: LocalChain, seed: string): Promise<Funder> {
  const key = mintKey(DEFAULT_SEED);
  const known = await chain.authenticationKey(CORE_RESOURCES);
  if (known?.equals(keyOf(key)) === true) return { address: CORE_RESOURCES, key };
  const account = accountOf(ed25519Key(secretOf(seed, 'faucet')));
  const prepare = async (): Promise<void> => {
    if ((await chain.authenticationKey(account.address)) !== undefined) return;
    await chain.edit(balanceEdit(account.address, APT, FUNDER_OCTAS));
    await chain.edit(keyEdit(account.address, keyOf(account.key)));
  };
  return { ...account, prepare };
}

function keyOf({ publicKey }: Ed25519Key): Buffer {
  return authenticationKey({ kind: 'ed25519', publicKey, signature: Buffer.alloc(0) })!;
}
