/**
 * A multisig account: its owners propose a payment, which waits in a table, and a multisig transaction executes it.
 * One of two signatures is enough here, so a proposal can run at once.
 */
import { type BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { EntryFunction } from '../../../src/move/transactions/executable.ts';
import { callsOf, type ValueWriter } from '../../../src/sample/calls.ts';
import { derivedBytes } from '../../../src/sample/random.ts';
import { FIRST_CREATOR_ACCOUNT, MULTISIG_ACCOUNT } from '../model/accounts.ts';
import { EventHandles, eventType, migratedEventType } from '../model/events.ts';
import { resourceKey, Slots, singleSlot, tableItemKey } from '../model/slots.ts';
import { type Call, pickReceiver, type World } from '../model/world.ts';

const MODULE = '0x1::multisig_account';
const HANDLES = 9;
/** Positions of two handles in the resource. */
const CREATE_HANDLE = 3;
const EXECUTE_HANDLE = 6;
const CREATED = eventType(`${MODULE}::CreateTransactionEvent`);
const EXECUTED = migratedEventType(
  MODULE,
  'TransactionExecutionSucceededEvent',
  'TransactionExecutionSucceeded',
);
const PROPOSER = FIRST_CREATOR_ACCOUNT;
const SECOND_OWNER = FIRST_CREATOR_ACCOUNT + 1;
const MAX_PAYMENT_OCTAS = 10_000;

const propose = callsOf(`${MODULE}::create_transaction`);
const transfer = callsOf('0x1::aptos_account::transfer');

interface Proposal {
  readonly sequenceNumber: number;
  readonly to: number;
  readonly amount: bigint;
  /** Seconds since 1970. */
  readonly createdAt: number;
}

export class Multisig {
  readonly #world: World;
  /** 32 bytes. */
  readonly #address: Buffer;
  readonly #handles: EventHandles;
  readonly #resource: Slots;
  readonly #proposals: Slots;
  #waiting: Proposal | undefined;
  #nextSequenceNumber = 1;
  #lastExecuted = 0;

  constructor(world: World) {
    const { accounts, effects, seed } = world;
    this.#world = world;
    this.#address = accounts.addressBytes(MULTISIG_ACCOUNT);
    const firstHandle = accounts.takeCreationNumbers(MULTISIG_ACCOUNT, HANDLES);
    this.#handles = EventHandles.ofResource(this.#address, firstHandle, HANDLES);
    const table = derivedBytes(seed, 'multisig table').toString('hex');
    this.#proposals = new Slots({
      key: (sequenceNumber) => tableItemKey(table, (writer) => writer.exactU64(sequenceNumber)),
      write: (writer) => this.#writeProposal(writer, this.#waiting!),
      most: 1,
    });
    this.#resource = singleSlot(
      resourceKey(accounts.address(MULTISIG_ACCOUNT), `${MODULE}::MultisigAccount`),
      (writer) => this.#writeResource(writer, table),
    );
    effects.create(this.#resource);
  }

  readonly act = (): Call => {
    return this.#waiting === undefined ? this.#propose() : this.#execute(this.#waiting);
  };

  #propose(): Call {
    const { effects, native, random } = this.#world;
    const proposal: Proposal = {
      sequenceNumber: this.#nextSequenceNumber,
      to: pickReceiver(this.#world, native.holders),
      amount: BigInt(random.between(1, MAX_PAYMENT_OCTAS)),
      createdAt: Math.floor(effects.now / 1_000_000),
    };
    this.#nextSequenceNumber += 1;
    this.#waiting = proposal;
    effects.create(this.#proposals, proposal.sequenceNumber);
    effects.modify(this.#resource);
    if (!effects.moduleEvents) {
      effects.streamEvent(CREATED, this.#handles, CREATE_HANDLE, (writer) => {
        this.#writeStep(writer, proposal);
        this.#writeProposal(writer, proposal);
      });
    }
    const payload = () => propose(this.#address, (to) => to.bytes(this.#payloadBytes(proposal)));
    return { sender: PROPOSER, payload };
  }

  #execute(proposal: Proposal): Call {
    const { accounts, effects, native } = this.#world;
    native.withdraw(MULTISIG_ACCOUNT, proposal.amount);
    native.deposit(proposal.to, proposal.amount);
    effects.delete(this.#proposals, proposal.sequenceNumber);
    this.#waiting = undefined;
    this.#lastExecuted = proposal.sequenceNumber;
    effects.modify(this.#resource);
    const write: ValueWriter = (writer) => {
      this.#writeStep(writer, proposal);
      writer.bytes(this.#payloadBytes(proposal)).exactU64(1);
    };
    const writeOwner: ValueWriter = (writer) => writer.fixed(this.#address);
    effects.migratedEvent(EXECUTED, this.#handles, EXECUTE_HANDLE, write, writeOwner);
    return {
      sender: PROPOSER,
      payload: () => ({
        kind: 'multisig',
        multisigAddress: accounts.address(MULTISIG_ACCOUNT),
        // Every other proposal is executed from the payload stored on chain.
        payload: proposal.sequenceNumber % 2 === 0 ? undefined : this.#payment(proposal),
      }),
    };
  }

  #payment({ to: receiver, amount }: Proposal): EntryFunction {
    return transfer(this.#world.accounts.addressBytes(receiver), amount);
  }

  /** The payload as it is stored on chain: variant 0 of a multisig payload, then the call. */
  #payloadBytes(proposal: Proposal): Buffer {
    return encodeBcs((writer) => EntryFunction.write(writer.uleb32(0), this.#payment(proposal)));
  }

  /** The first fields of events: the account that acts, and the proposal. */
  #writeStep(writer: BcsWriter, { sequenceNumber }: Proposal): void {
    writer.fixed(this.#world.accounts.addressBytes(PROPOSER)).exactU64(sequenceNumber);
  }

  #writeProposal(writer: BcsWriter, proposal: Proposal): void {
    const proposer = this.#world.accounts.addressBytes(PROPOSER);
    writer.u8(1).bytes(this.#payloadBytes(proposal)).u8(0);
    writer.length32(1).fixed(proposer).bool(true);
    writer.fixed(proposer).exactU64(proposal.createdAt);
  }

  #writeResource(writer: BcsWriter, table: string): void {
    const { accounts } = this.#world;
    writer.vector([PROPOSER, SECOND_OWNER], (to, owner) => to.fixed(accounts.addressBytes(owner)));
    writer.exactU64(1).address(table);
    writer.exactU64(this.#lastExecuted).exactU64(this.#nextSequenceNumber);
    writer.u8(1).fixed(this.#address).length32(0);
    this.#handles.writeAll(writer);
  }
}
