/** A whole local network in this process, and everything that tests may do to it (docs/localnet.md, Control). */
import { sign } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  type FeatureChange,
  featuresEdit,
  gasEdit,
  tableItemEdit,
} from '../../chain/chain-edits.ts';
import type { ChainWatch } from '../../chain/chain-watch.ts';
import { GasReport, type GasReportRow } from '../../chain/gas-report.ts';
import { signingKey } from '../../chain/genesis/genesis-keys.ts';
import type { ChainMemory, LocalChain, Mining } from '../../chain/local-chain.ts';
import { CoverageRecorder } from '../../execution/coverage-recorder.ts';
import type { TransactionOutput } from '../../execution/execute.ts';
import {
  balanceEdit,
  moduleEdit,
  resourceEdit,
  type StateEdit,
} from '../../ledger/overrides/state-edits.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import type { SignedTransaction } from '../../move/transactions/user-transaction.ts';
import { parseAddress } from '../../move/types/address.ts';
import { type ModuleId, moduleKey } from '../../move/types/module-id.ts';
import { storeFileOf } from '../../store/sqlite/files.ts';
import { copySmallSqliteFile, replaceSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { NodeError } from '../node-error.ts';
import { asNodeError, restoreStore } from '../open-store.ts';
import { packedStore, unpackedStore } from '../packed-store.ts';
import { PendingFailure, type StopList } from '../shutdown.ts';
import { APT, type Branch, type BranchOptions, type LocalAccount, openBranch } from './branch.ts';
import { writeCoverage } from './coverage/coverage-files.ts';
import { warnOfMissingCode } from './missing-code.ts';

/** In the folder of the ledger. */
const SNAPSHOT_FOLDER = 'snapshots';
/** Each is a copy of the ledger's file. */
export const MAX_SNAPSHOTS = 256;
/** Time for the requests in flight when a branch ends, in milliseconds. */
const MAX_ANSWER_MS = 1_500;
/** Bytes of the ledger in a dump, which is in memory. */
const MAX_DUMP_BYTES = 256 * 1024 * 1024;
const SCHEMA_COOKIE_OFFSET = 40;
/** Ends an event stream: with an empty id, the client reconnects without its last position. */
const REVERTED = 'id:\nretry: 10\nevent: reverted\ndata: {}\n\n';

interface WaitingTransaction {
  /** Hexadecimal, with `0x`, as the next one. */
  readonly hash: string;
  readonly sender: string;
  /** Absent for a transaction with a nonce. */
  readonly sequenceNumber: bigint | undefined;
  readonly nonce: bigint | undefined;
}

interface Snapshot {
  readonly file: string;
  readonly memory: ChainMemory;
}

type LocalnetParts = Omit<BranchOptions, 'mining' | 'memory' | 'server' | 'watch'> & {
  readonly watch?: ChainWatch;
  /** Whether instructions are counted. */
  readonly isCovered?: boolean;
  readonly hasDefaultFramework: boolean;
};

/** All methods that change something reject with NodeError, or with OverrideError for what no ledger could have. */
export class Localnet {
  /** Ends in `/v1`. */
  url = '';
  faucetUrl = '';
  /** URL of the indexer's GraphQL; empty if not requested. */
  indexerUrl = '';
  readonly #parts: LocalnetParts;
  readonly #stopList: StopList;
  readonly #failure = new PendingFailure();
  readonly #folder: string;
  readonly #snapshots = new Map<number, Snapshot>();
  readonly #gas = new GasReport();
  readonly #coverage: CoverageRecorder | undefined;
  readonly #published = new Map<string, ModuleId>();
  readonly #openResponses = new Set<ServerResponse>();
  #current: Branch;
  #branch: Promise<Branch>;
  #lastSnapshot = 0;
  /** Resolves when the last change of the branch ends. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(
    parts: LocalnetParts,
    branch: Branch,
    folder: string,
    stopList: StopList,
    coverage: CoverageRecorder | undefined,
  ) {
    this.#parts = parts;
    this.#coverage = coverage;
    this.#stopList = stopList;
    this.#folder = folder;
    this.#current = branch;
    this.#branch = Promise.resolve(branch);
    this.#watch(branch);
    stopList.add('the branch', async () => {
      await this.#queue;
      await (await this.#branch).close();
    });
  }

  static async open(parts: LocalnetParts, mining: Mining, stopList: StopList): Promise<Localnet> {
    let net: Localnet | undefined;
    const coverage = parts.isCovered ? new CoverageRecorder() : undefined;
    const watch: ChainWatch = {
      runs: coverage,
      added: (transaction, output) => {
        // Coins that the network gives are no part of a test.
        if (net === undefined || transaction.raw.sender === net.mint.address) return;
        net.#record(transaction, output);
      },
    };
    const folder = join(parts.settings.data, SNAPSHOT_FOLDER);
    const remove = () => rmSync(folder, { recursive: true, force: true });
    const branch = await openBranch({ ...parts, watch, mining });
    try {
      // Left by a process that was killed.
      remove();
      mkdirSync(folder);
    } catch (error) {
      await branch.close();
      throw error;
    }
    stopList.add('the snapshots', remove);
    net = new Localnet({ ...parts, watch }, branch, folder, stopList, coverage);
    return net;
  }

  /** The server of the interface, which does not listen yet. */
  get server(): Server {
    return this.#current.api.server;
  }

  get api() {
    return this.#current.api;
  }

  get chain(): LocalChain {
    return this.#current.chain;
  }

  get chainId(): number {
    return this.#current.chainId;
  }

  /** The accounts with known keys and coins. */
  get accounts(): readonly LocalAccount[] {
    return this.#parts.accounts;
  }

  /** Signs bytes with the key of one of the accounts, which everybody knows. */
  sign(account: string, message: Uint8Array): { publicKey: Buffer; signature: Buffer } {
    const address = parseAddress(account);
    const key = this.accounts.find((one) => one.address === address)?.key;
    if (key === undefined)
      throw new NodeError('bad_input', `${account} is not one of its accounts`);
    return { publicKey: key.publicKey, signature: sign(null, message, signingKey(key)) };
  }

  /** The account that pays for the coins that the faucet gives. */
  get mint(): LocalAccount {
    return this.#current.faucet.funder;
  }

  get version(): bigint {
    return this.#current.chain.version;
  }

  /** The time of the newest block, in microseconds since 1970. */
  get timestampUsecs(): bigint {
    return this.#current.chain.timestampUsecs;
  }

  /** What transactions have cost, by the functions that they call; including those reverted since. */
  gasReport(): readonly GasReportRow[] {
    return this.#gas.rows();
  }

  /**
   * Writes which code of published modules has run, also in views, simulations and what was reverted since.
   * @param folder of `coverage.txt` and `lcov.info`
   * @param sources where Move sources are that packages do not have
   * @returns the text
   */
  async writeCoverage(folder: string, sources?: string): Promise<string> {
    const recorder = this.#coverage;
    if (recorder === undefined) {
      throw new NodeError('bad_setting', 'the network was started without coverage');
    }
    const view = await (await this.#branch).ledger.view();
    const published = this.#published.values();
    return await writeCoverage(folder, { recorder, published, view, sources });
  }

  #record(transaction: SignedTransaction, output: TransactionOutput): void {
    const { logger, hasDefaultFramework } = this.#parts;
    if (hasDefaultFramework) warnOfMissingCode(logger, transaction, output);
    this.#gas.record(transaction, output);
    for (const { key } of output.writes) {
      const path = key.kind === 'accessPath' ? key.parsed : undefined;
      if (path?.kind === 'code') this.#published.set(moduleKey(path.module), path.module);
    }
  }

  /** Rejects when the chain cannot continue. Never resolves. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  stop(): Promise<void> {
    return this.#stopList.stop();
  }

  /** The branch; while one follows another, the next one. */
  branch(): Promise<Branch> {
    return this.#branch;
  }

  /** Answers a request of the interface. While one branch follows another, it waits. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    void this.#branch.then(
      ({ api }) => {
        // Its client has left while one branch followed another.
        if (response.destroyed) return;
        this.#openResponses.add(response);
        response.once('close', () => this.#openResponses.delete(response));
        api.handle(request, response);
      },
      () => response.destroy(),
    );
  }

  /** Makes blocks, even if nothing is pending. */
  async mine(blocks = 1): Promise<void> {
    await (await this.#chain()).mine(blocks);
  }

  /** Changes when blocks are made. */
  async setMining(mining: Mining): Promise<void> {
    (await this.#chain()).setMining(mining);
  }

  /** Sets the next block's time; the clock continues there. @param usecs microseconds since 1970 */
  async setTime(usecs: bigint): Promise<void> {
    const chain = await this.#chain();
    if (usecs <= chain.timestampUsecs) {
      const message = `the time of a block is later than that of the one before, ${chain.timestampUsecs}`;
      throw new NodeError('bad_input', message);
    }
    chain.setNextTime(usecs);
  }

  /** Moves the clock forward. @param usecs microseconds */
  async moveTime(usecs: bigint): Promise<void> {
    (await this.#chain()).moveTime(usecs);
  }

  /** The pending transactions in order of arrival. */
  async pending(): Promise<readonly WaitingTransaction[]> {
    return (await this.#chain()).waiting.map(({ hash, sender, nonce, transaction }) => ({
      hash: formatHex(hash),
      sender: `0x${sender}`,
      sequenceNumber: nonce === undefined ? transaction.raw.sequenceNumber : undefined,
      nonce,
    }));
  }

  /** Removes all pending transactions, or one. @returns how many */
  async drop(hash?: string): Promise<number> {
    const chain = await this.#chain();
    return await chain.drop(hash === undefined ? undefined : bytesOfHash(hash));
  }

  /** Sends an account coins, as the faucet does. @returns the hash; the next block has the transaction */
  async fund(account: string, octas: bigint): Promise<string> {
    const { faucet } = await this.#branch;
    return formatHex((await faucet.fund(parseAddress(account), octas)).hash);
  }

  /**
   * Sets an account's balance of an asset.
   * @param asset a coin type, or the address of a fungible asset's metadata; absent: APT
   * @returns the version of the transaction, as all edits do
   */
  setBalance(account: string, amount: bigint, asset = APT): Promise<bigint> {
    return this.#edit(() => balanceEdit(account, asset, amount));
  }

  /** Sets a resource, also one in a resource group. @param value BCS, which must be of the type */
  setResource(account: string, type: string, value: Uint8Array): Promise<bigint> {
    return this.#edit(() => resourceEdit(account, type, Buffer.from(value)));
  }

  deleteResource(account: string, type: string): Promise<bigint> {
    return this.#edit(() => resourceEdit(account, type, undefined));
  }

  /** Publishes a module, under the name that its bytecode has, whatever was there. */
  setModule(bytecode: Uint8Array): Promise<bigint> {
    return this.#edit(() => moduleEdit(bytecode));
  }

  /** Sets an item of a table. @param key BCS, as the value; neither is checked @param value absent: deletes it */
  setTableItem(handle: string, key: Uint8Array, value?: Uint8Array): Promise<bigint> {
    return this.#edit(() => tableItemEdit(handle, key, value));
  }

  /** Switches feature flags, by their numbers. */
  setFeatures(change: FeatureChange): Promise<bigint> {
    return this.#edit(() => featuresEdit(change));
  }

  /** Sets an entry of the gas schedule. @param name such as `txn.min_price_per_gas_unit` */
  setGas(name: string, value: bigint): Promise<bigint> {
    return this.#edit(() => gasEdit(name, value));
  }

  /** From now on an account needs no signature. @param account absent: no account needs one */
  async impersonate(account?: string): Promise<void> {
    const { impersonation } = this.#parts;
    if (account === undefined) impersonation.isForAll = true;
    else impersonation.add(parseAddress(account));
  }

  /** @param account absent: ends it for all accounts */
  async stopImpersonating(account?: string): Promise<void> {
    const { impersonation } = this.#parts;
    if (account === undefined) impersonation.clear();
    else impersonation.remove(parseAddress(account));
  }

  /** Records the whole chain with its pending transactions and its clock. @returns what `revert` takes, once */
  snapshot(): Promise<number> {
    return this.#enqueue(async () => {
      if (this.#snapshots.size >= MAX_SNAPSHOTS) {
        const message = `there are ${MAX_SNAPSHOTS} snapshots already: revert to one, which removes it and later ones`;
        throw new NodeError('bad_input', message);
      }
      const id = this.#lastSnapshot + 1;
      this.#snapshots.set(id, await this.#copy(join(this.#folder, `${id}.db`)));
      this.#lastSnapshot = id;
      return id;
    });
  }

  /** Goes back to a snapshot. This deletes it and all later ones. */
  revert(id: number): Promise<void> {
    return this.#enqueue(async () => {
      const snapshot = this.#snapshots.get(id);
      if (snapshot === undefined) throw new NodeError('bad_input', `there is no snapshot ${id}`);
      await this.#switchTo(snapshot.file, snapshot.memory);
      for (const later of this.#snapshots.keys()) if (later >= id) this.#forget(later);
    });
  }

  /** The whole ledger in few bytes; equal ledgers of one version of Daybook give equal bytes. */
  dump(): Promise<Buffer> {
    return this.#enqueue(async () => {
      const { file } = await this.#copy(join(this.#folder, 'dump.db'));
      const bytes = readFileSync(file);
      rmSync(file);
      // SQLite counts up with each copy; the number only has to be another one than before in the same file.
      bytes.writeUInt32BE(1, SCHEMA_COOKIE_OFFSET);
      if (bytes.length > MAX_DUMP_BYTES) {
        throw new NodeError('bad_input', `a dump has at most ${MAX_DUMP_BYTES} bytes of a ledger`);
      }
      return await packedStore(bytes);
    });
  }

  /** Loads the ledger of a dump; deletes all snapshots. */
  load(dump: Uint8Array): Promise<void> {
    return this.#begin((folder) => loadDump(folder, dump));
  }

  /** Begins again, as at the first start; deletes all snapshots. */
  reset(): Promise<void> {
    return this.#begin(this.#parts.place.makeLedger);
  }

  async #chain(): Promise<LocalChain> {
    return (await this.#branch).chain;
  }

  async #edit(edit: () => StateEdit): Promise<bigint> {
    const stateEdit = edit();
    return await (await this.#chain()).edit(stateEdit);
  }

  #copy(file: string): Promise<Snapshot> {
    const { folder } = this.#parts.place;
    return this.chain.runExclusive((memory) => {
      copySmallSqliteFile(folder, file);
      return { file, memory };
    });
  }

  #forget(id: number): void {
    rmSync(this.#snapshots.get(id)!.file);
    this.#snapshots.delete(id);
  }

  #begin(makeLedger: (folder: string) => Promise<unknown>): Promise<void> {
    return this.#enqueue(async () => {
      const folder = join(this.#folder, 'new');
      mkdirSync(folder);
      try {
        await makeLedger(folder);
        await this.#switchTo(storeFileOf(folder));
      } finally {
        rmSync(folder, { recursive: true });
      }
      for (const id of this.#snapshots.keys()) this.#forget(id);
    });
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work).catch((cause: unknown) => {
      throw asNodeError(cause);
    });
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** Ends the branch, and begins one on another file. A failure in between ends the network. */
  async #switchTo(file: string, memory?: ChainMemory): Promise<void> {
    const branch = this.#replace(file, memory);
    this.#branch = branch;
    try {
      this.#current = await branch;
      this.#watch(this.#current);
    } catch (error) {
      this.#failure.fail(error);
      throw error;
    }
  }

  async #replace(file: string, memory: ChainMemory | undefined): Promise<Branch> {
    const { api, chain, close } = this.#current;
    const { server } = api;
    const { mining } = chain;
    const listeners = server.listeners('request') as (() => void)[];
    const retired = api.retire(REVERTED);
    for (const listener of listeners) server.on('request', listener);
    await retired;
    await this.#drainRequests();
    await close();
    await replaceSqliteStore(this.#parts.place.folder, file);
    const next = await openBranch({ ...this.#parts, mining, memory, server });
    server.off('request', next.api.handle);
    return next;
  }

  /** Waits for the branch's requests in flight. */
  async #drainRequests(): Promise<void> {
    const timer = setTimeout(() => {
      for (const response of this.#openResponses) response.destroy();
    }, MAX_ANSWER_MS);
    while (this.#openResponses.size > 0) {
      const [response] = this.#openResponses;
      await new Promise((resolve) => response!.once('close', resolve));
    }
    clearTimeout(timer);
  }

  #watch({ chain }: Branch): void {
    chain.lost.catch((reason: unknown) => this.#failure.fail(reason));
  }
}

/** Creates the ledger of a dump. @throws NodeError `damaged`, `ledger_exists`, `data_not_usable` */
export async function loadDump(data: string, dump: Uint8Array): Promise<void> {
  const bytes = await unpackedStore(Buffer.from(dump), MAX_DUMP_BYTES).catch(() => undefined);
  if (bytes === undefined) throw new NodeError('damaged', 'not a dump of a ledger, or damaged');
  await restoreStore(data, bytes, async () => undefined);
}

function bytesOfHash(hash: string): Buffer {
  if (/^0x[0-9a-fA-F]{64}$/.test(hash)) return Buffer.from(hash.slice(2), 'hex');
  throw new NodeError('bad_input', 'a hash has 64 hexadecimal digits behind 0x');
}
