/**
 * A node that stands in for one of a chain that executes: a small ledger with an API, which takes transfers that are
 * properly signed, and commits each in a block of its own a little later. Simulations come from a table.
 */
import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildApi } from '../../src/api/http/server.ts';
import { ChunkBuilder } from '../../src/ingest/chunk-builder.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { type LedgerReader, openLedger } from '../../src/ledger/open.ts';
import { BcsError, BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { domainSeed } from '../../src/move/crypto/hash.ts';
import { transactionHash } from '../../src/move/transactions/transaction.ts';
import {
  readRawTransaction,
  readSignedTransaction,
  type SignedTransaction,
} from '../../src/move/transactions/user-transaction.ts';
import { ADDRESS_ONE, type Address } from '../../src/move/types/address.ts';
import { createGenesis, type SampleWorld } from '../../src/sample/genesis.ts';
import {
  blockEnd,
  blockEndWriteSet,
  blockStart,
} from '../../src/sample/history/block-transactions.ts';
import { LedgerRecorder, type Outcome } from '../../src/sample/history/recorder.ts';
import { type StateTree, stateTreeAt } from '../../src/sample/history/state-tree.ts';
import { SAMPLE_CHAIN_ID } from '../../src/sample/model/chain.ts';
import { Effects } from '../../src/sample/model/effects.ts';
import { eventType } from '../../src/sample/model/events.ts';
import { derivedBytes } from '../../src/sample/model/random.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { LogLines } from '../api/error-answers.ts';
import { apiSettings } from '../api/settings.ts';

/** Gas units of every transfer. */
export const GAS_USED = 7;
/** How long a transaction is pending, in milliseconds. */
const PENDING_MS = 300;
const SETTINGS = { seed: 17n, accounts: 40 };
const SIGNED_TRANSACTION = 'application/x.aptos.signed_transaction+bcs';
const FEE_STATEMENT = eventType('0x1::transaction_fee::FeeStatement');
const SUCCESS = { kind: 'success' } as const;

/** An account of the chain whose key is known. */
export interface KnownAccount {
  readonly index: number;
  /** `0x` and 64 digits. */
  readonly address: string;
  /** `0x` and 64 digits. */
  readonly privateKey: string;
}

/** A transfer that was submitted. */
interface Submission {
  readonly signed: Buffer;
  readonly hash: string;
  readonly sender: number;
  readonly receiver: number;
  readonly amount: bigint;
  readonly transaction: SignedTransaction;
}

/** What is wrong with a submission. */
class Refusal extends Error {}

export class ChainStandIn {
  /** Requests that it executed, as `POST /v1/transactions`. */
  readonly executed: string[] = [];
  readonly #world: SampleWorld;
  readonly #effects: Effects;
  readonly #recorder: LedgerRecorder;
  readonly #committer: Committer;
  readonly #store: Store;
  readonly #ledger: LedgerReader;
  readonly #server: Server;
  readonly #pending = new Map<string, Submission>();
  /** Blocks are made one after the other. */
  #lastBlock: Promise<unknown> = Promise.resolve();

  private constructor(
    store: Store,
    writer: LedgerWriter,
    state: StateTree,
    effects: Effects,
    world: SampleWorld,
  ) {
    this.#store = store;
    this.#effects = effects;
    this.#world = world;
    this.#committer = new Committer(writer);
    this.#recorder = new LedgerRecorder(1n, writer.head!.frozenRoots, state, true);
    this.#ledger = openLedger(store);
    const api = buildApi(this.#ledger, apiSettings({ headerPrefix: 'X-Aptos' }), new LogLines());
    this.#server = createServer((request, response) => {
      this.#answer(request, response).then(
        (isAnswered) => isAnswered || api.handle(request, response),
        (error: unknown) => response.destroy(error as Error),
      );
    });
  }

  /** Starts one with a ledger in a folder: genesis, and a block. */
  static async start(directory: string): Promise<ChainStandIn> {
    const effects = new Effects();
    const world = createGenesis(SETTINGS, effects);
    const writeSet = effects.takeWriteSet();
    const events = effects.takeEvents();
    const genesis = readGenesis(
      encodeBcs((writer) => {
        // Transaction::Genesis, WriteSetPayload::Direct.
        writer.uleb32(1).uleb32(0).fixed(writeSet);
        writer.vector(events, (to, event) => to.fixed(event));
      }),
    );
    const store = await openSqliteStore({ directory });
    const writer = await LedgerWriter.open(store);
    const chunk = chunkOfGenesis(genesis, computeGenesisHashes(genesis), true);
    await new Committer(writer).pushAll([chunk]);
    const state = await stateTreeAt(store, 0n);
    const chain = new ChainStandIn(store, writer, state, effects, world);
    await chain.#makeBlock([]);
    chain.#server.listen(0, '127.0.0.1');
    await once(chain.#server, 'listening');
    return chain;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The nth account with coins in a coin store. */
  account(nth: number): KnownAccount {
    const { accounts, native } = this.#world;
    const index = [...Array(accounts.count).keys()].filter(
      (at) => at >= 8 && native.hasCoinStore(at) && accounts.key(at).scheme === 'ed25519',
    )[nth]!;
    const { d } = accounts.key(index).privateKeys[0]!.export({ format: 'jwk' });
    return {
      index,
      address: formatHex(accounts.addressBytes(index)),
      privateKey: formatHex(Buffer.from(d!, 'base64url')),
    };
  }

  /** Octas that an account has now. */
  balance(index: number): bigint {
    return this.#world.native.balance(index);
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await this.#lastBlock;
    await this.#store.close();
  }

  /** Answers what the ledger's own API cannot. @returns false for everything else */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const [path = ''] = request.url!.split('?');
    const hash = /^\/v1\/transactions\/(?:wait_)?by_hash\/(0x[0-9a-f]{64})$/.exec(path)?.[1];
    const waiting = hash === undefined ? undefined : this.#pending.get(hash);
    if (waiting !== undefined) {
      this.#send(response, 200, Buffer.concat([Buffer.of(1), waiting.signed]));
      return true;
    }
    const execute = this.#operations[path];
    if (request.method !== 'POST' || execute === undefined) return false;
    this.executed.push(`POST ${path}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      const contentType = request.headers['content-type'] ?? '';
      await execute(Buffer.concat(chunks), contentType, response);
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof BcsError)) throw error;
      const { message } = error;
      this.#send(response, 400, { message, error_code: 'vm_error', vm_error_code: 1 });
    }
    return true;
  }

  readonly #operations: Readonly<
    Record<string, (body: Buffer, type: string, response: ServerResponse) => Promise<void>>
  > = {
    '/v1/transactions': async (body, type, response) => {
      const submission = this.#readTransfer(body, type);
      this.#checkSignature(submission);
      this.#pending.set(submission.hash, submission);
      setTimeout(() => {
        this.#lastBlock = this.#lastBlock.then(() => this.#makeBlock([submission]));
      }, PENDING_MS);
      const { type: _, ...answer } = await this.#pendingJson(submission);
      this.#send(response, 202, answer);
    },
    '/v1/transactions/simulate': async (body, type, response) => {
      const submission = this.#readTransfer(body, type);
      const { type: _, ...asked } = await this.#pendingJson(submission);
      const zeros = `0x${'0'.repeat(64)}`;
      const simulated = {
        version: '1',
        hash: submission.hash,
        state_change_hash: zeros,
        event_root_hash: zeros,
        state_checkpoint_hash: null,
        gas_used: String(GAS_USED),
        success: true,
        vm_status: 'Executed successfully',
        accumulator_root_hash: zeros,
        changes: [],
        ...asked,
        events: [],
        timestamp: '1',
        type: 'user_transaction',
      };
      this.#send(response, 200, [simulated], { 'x-aptos-gas-used': String(GAS_USED) });
    },
  };

  #send(
    response: ServerResponse,
    status: number,
    answer: object,
    headers: Record<string, string> = {},
  ): void {
    const isBcs = Buffer.isBuffer(answer);
    const type = isBcs ? 'application/x-bcs' : 'application/json; charset=utf-8';
    const ledger = { 'x-aptos-chain-id': String(SAMPLE_CHAIN_ID) };
    response.writeHead(status, { ...ledger, ...headers, 'content-type': type });
    response.end(isBcs ? answer : JSON.stringify(answer));
  }

  async #pendingJson({ signed, hash }: Submission): Promise<Record<string, unknown>> {
    const { history } = await this.#ledger.view();
    const json = await history.renderedPending(signed, Buffer.from(hash.slice(2), 'hex'));
    return JSON.parse(json.toString()) as Record<string, unknown>;
  }

  /** A transfer of the native coin. @throws Refusal, BcsError */
  #readTransfer(signed: Buffer, contentType: string): Submission {
    if (contentType !== SIGNED_TRANSACTION) throw new Refusal(`not taken: ${contentType}`);
    const reader = new BcsReader(signed);
    const transaction = readSignedTransaction(reader);
    reader.finish();
    const { sender, payload, chainId, sequenceNumber } = transaction.raw;
    const call = payload.kind === 'payload' ? payload.executable : payload;
    if (call.kind !== 'entryFunction') throw new Refusal(`not taken: ${call.kind}`);
    const name = `${call.module.address}::${call.module.name}::${call.function}`;
    if (name !== `${ADDRESS_ONE}::aptos_account::transfer`) throw new Refusal(`not taken: ${name}`);
    if (chainId !== SAMPLE_CHAIN_ID) throw new Refusal('BAD_CHAIN_ID');
    const index = this.#indexOf(sender);
    if (sequenceNumber !== BigInt(this.#world.accounts.sequenceNumbers[index]!)) {
      throw new Refusal('SEQUENCE_NUMBER_TOO_OLD');
    }
    const [receiver, amount] = call.args as [Buffer, Buffer];
    return {
      signed,
      hash: formatHex(transactionHash(Buffer.concat([Buffer.of(0), signed]))),
      sender: index,
      receiver: this.#indexOf(receiver.toString('hex')),
      amount: amount.readBigUInt64LE(),
      transaction,
    };
  }

  /** @throws Refusal */
  #checkSignature({ signed, transaction }: Submission): void {
    const reader = new BcsReader(signed);
    readRawTransaction(reader);
    const message = Buffer.concat([
      domainSeed('RawTransaction'),
      signed.subarray(0, reader.offset),
    ]);
    const { authenticator } = transaction;
    if (authenticator.kind !== 'ed25519') throw new Refusal(`not taken: ${authenticator.kind}`);
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: authenticator.publicKey.toString('base64url') },
      format: 'jwk',
    });
    if (!verify(null, message, key, authenticator.signature))
      throw new Refusal('INVALID_SIGNATURE');
  }

  #indexOf(address: Address): number {
    const { accounts } = this.#world;
    for (let index = 0; index < accounts.count; index += 1) {
      if (accounts.address(index) === address) return index;
    }
    throw new Refusal(`no account ${address}`);
  }

  /** Commits a block of transfers. */
  async #makeBlock(submissions: readonly Submission[]): Promise<void> {
    const { chain, seed, assetInfos } = this.#world;
    const height = chain.height + 1;
    const header = {
      id: derivedBytes(seed, 'block', height),
      epoch: chain.epoch,
      round: height,
      height,
      proposer: chain.validators[0]!.address,
      votes: Buffer.of(0x70),
      failedProposers: [],
      timestamp: Math.max(Date.now() * 1_000, this.#effects.now + 1),
    };
    chain.startBlock(header);
    for (const info of assetInfos) info.update();
    const outcomes = [this.#outcome(blockStart(seed, header))];
    for (const submission of submissions) outcomes.push(this.#transfer(submission));
    const totals = {
      gasUsed: GAS_USED * submissions.length,
      fees: 0n,
      proposerIndex: 0,
      hotKeys: [],
    };
    const end = this.#outcome(blockEnd(header, totals));
    outcomes.push({ ...end, writeSet: blockEndWriteSet(header, totals) });
    const builder = new ChunkBuilder(this.#recorder.nextVersion);
    for (const outcome of outcomes) builder.add(this.#recorder.record(outcome));
    await this.#committer.pushAll([builder.finish(this.#recorder.frozenRoots)]);
    for (const { hash } of submissions) this.#pending.delete(hash);
  }

  #transfer({ signed, sender, receiver, amount, transaction }: Submission): Outcome {
    const { accounts, native } = this.#world;
    native.withdraw(sender, amount);
    native.deposit(receiver, amount);
    accounts.sequenceNumbers[sender]! += 1;
    this.#effects.modify(accounts.slots, sender);
    native.takeFee(sender, BigInt(GAS_USED) * transaction.raw.gasUnitPrice);
    this.#effects.moduleEvent(FEE_STATEMENT, (writer) => {
      writer.exactU64(GAS_USED).exactU64(GAS_USED).exactU64(0).exactU64(0).exactU64(0);
    });
    return this.#outcome(Buffer.concat([Buffer.of(0), signed]), GAS_USED);
  }

  #outcome(transaction: Buffer, gasUsed = 0): Outcome {
    const events = this.#effects.takeEvents();
    const writeSet = this.#effects.takeWriteSet();
    return { transaction, events, writeSet, gasUsed, status: SUCCESS, indexInBlock: undefined };
  }
}
