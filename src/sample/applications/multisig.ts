/**
 * A multisig account: its owners propose a payment, which waits in a table, and a multisig transaction carries it
 * out. One of two signatures is enough here, so a proposal can run at once.
 */

import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { type EntryFunction, writeEntryFunction } from '../../move/transactions/executable.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { FIRST_CREATOR_ACCOUNT, MULTISIG_ACCOUNT } from '../accounts.ts';
import { eventType } from '../effects.ts';
import { derivedBytes } from '../random.ts';
import { resourceKey, SingleSlots, SlotFamily, tableItemKey, writeEventHandle } from '../slots.ts';
import {
  argument,
  type Call,
  entryFunction,
  pickReceiver,
  u64Argument,
  type World,
} from '../world.ts';

const MULTISIG_HANDLES = 9;
/** Places of three handles among the nine of the resource. */
const CREATE_HANDLE = 3;
const EXECUTE_HANDLE = 6;
const CREATED_EVENT = eventType('0x1::multisig_account::CreateTransactionEvent');
const EXECUTED_EVENT = eventType('0x1::multisig_account::TransactionExecutionSucceededEvent');
const EXECUTED = eventType('0x1::multisig_account::TransactionExecutionSucceeded');
/** The owner who proposes and executes. */
const PROPOSER = FIRST_CREATOR_ACCOUNT;
const SECOND_OWNER = FIRST_CREATOR_ACCOUNT + 1;

interface Proposal {
  readonly sequenceNumber: number;
  readonly to: number;
  readonly amount: bigint;
  /** Microseconds since 1970. */
  readonly createdAt: number;
}

class ProposalSlots extends SlotFamily {
  current: Proposal | undefined;
  readonly #handle: string;
  readonly #write: (writer: BcsWriter) => void;

  constructor(handle: string, write: (writer: BcsWriter) => void) {
    super();
    this.#handle = handle;
    this.#write = write;
  }

  key(sequenceNumber: number): Buffer {
    return tableItemKey(this.#handle, u64Argument(sequenceNumber));
  }

  createdAt(): number {
    return this.current!.createdAt;
  }

  writeValue(writer: BcsWriter): void {
    this.#write(writer);
  }
}

export class Multisig {
  readonly #world: World;
  readonly #slots = new SingleSlots();
  readonly #resource: number;
  readonly #proposals: ProposalSlots;
  readonly #counts = new Uint32Array(MULTISIG_HANDLES);
  #firstHandle = 0;
  #nextSequenceNumber = 1;
  #lastExecuted = 0;

  constructor(world: World) {
    this.#world = world;
    const handle = derivedBytes(world.seed, 'multisig table').toString('hex');
    this.#proposals = new ProposalSlots(handle, (writer) => this.#writeProposal(writer));
    const address = derivedBytes(world.seed, 'keyless account', MULTISIG_ACCOUNT).toString('hex');
    this.#resource = this.#slots.add(
      resourceKey(address, '0x1::multisig_account::MultisigAccount'),
      (writer) => this.#writeResource(writer, handle),
    );
  }

  genesis(): void {
    const { accounts, effects } = this.#world;
    this.#firstHandle = accounts.takeCreationNumbers(effects, MULTISIG_ACCOUNT, MULTISIG_HANDLES);
    effects.create(this.#slots, this.#resource);
  }

  /** Proposes a payment, or carries out the one that waits. */
  readonly act = (): Call => {
    const waiting = this.#proposals.current;
    return waiting === undefined ? this.#propose() : this.#execute(waiting);
  };

  #propose(): Call {
    const { accounts, chain, effects, random } = this.#world;
    const proposal: Proposal = {
      sequenceNumber: this.#nextSequenceNumber,
      to: pickReceiver(this.#world, this.#world.native.holders),
      amount: BigInt(random.between(1, 10_000)),
      createdAt: chain.now,
    };
    this.#nextSequenceNumber += 1;
    this.#proposals.current = proposal;
    effects.create(this.#proposals, proposal.sequenceNumber);
    effects.modify(this.#slots, this.#resource);
    if (!chain.moduleEvents) {
      effects.streamEvent(CREATED_EVENT, this.#count(CREATE_HANDLE), (writer) => {
        writer.fixed(accounts.addressBytes(PROPOSER)).u64(BigInt(proposal.sequenceNumber));
        this.#writeProposal(writer);
      });
    }
    return {
      sender: PROPOSER,
      payload: () => {
        const payload = this.#payloadBytes(proposal);
        return entryFunction(
          ADDRESS_ONE,
          'multisig_account',
          'create_transaction',
          [],
          [
            Buffer.from(accounts.addressBytes(MULTISIG_ACCOUNT)),
            argument((writer) => writer.bytes(payload)),
          ],
        );
      },
    };
  }

  #execute(proposal: Proposal): Call {
    const { accounts, chain, effects, native } = this.#world;
    native.withdraw(effects, MULTISIG_ACCOUNT, proposal.amount, chain);
    native.deposit(effects, proposal.to, proposal.amount, chain);
    effects.delete(this.#proposals, proposal.sequenceNumber);
    this.#proposals.current = undefined;
    this.#lastExecuted = proposal.sequenceNumber;
    effects.modify(this.#slots, this.#resource);
    const writeExecution = (writer: BcsWriter): void => {
      writer.fixed(accounts.addressBytes(PROPOSER)).u64(BigInt(proposal.sequenceNumber));
      writer.bytes(this.#payloadBytes(proposal)).u64(1n);
    };
    if (chain.moduleEvents) {
      effects.moduleEvent(EXECUTED, (writer) => {
        writer.fixed(accounts.addressBytes(MULTISIG_ACCOUNT));
        writeExecution(writer);
      });
    } else {
      effects.streamEvent(EXECUTED_EVENT, this.#count(EXECUTE_HANDLE), writeExecution);
    }
    return {
      sender: PROPOSER,
      payload: () => ({
        kind: 'multisig',
        multisigAddress: accounts.address(MULTISIG_ACCOUNT),
        payload: this.#payment(proposal),
      }),
    };
  }

  #count(handle: number): { address: Uint8Array; creationNumber: number; sequenceNumber: number } {
    const sequenceNumber = this.#counts[handle]!;
    this.#counts[handle] = sequenceNumber + 1;
    return {
      address: this.#world.accounts.addressBytes(MULTISIG_ACCOUNT),
      creationNumber: this.#firstHandle + handle,
      sequenceNumber,
    };
  }

  #payment({ to, amount }: Proposal): EntryFunction {
    const args = [Buffer.from(this.#world.accounts.addressBytes(to)), u64Argument(amount)];
    return entryFunction(ADDRESS_ONE, 'aptos_account', 'transfer', [], args);
  }

  /** The payload as it waits on the chain: variant 0 of a multisig payload, then the call. */
  #payloadBytes(proposal: Proposal): Buffer {
    return encodeBcs((writer) => {
      writer.uleb32(0);
      writeEntryFunction(writer, this.#payment(proposal));
    });
  }

  #writeProposal(writer: BcsWriter): void {
    const proposal = this.#proposals.current!;
    const proposer = this.#world.accounts.addressBytes(PROPOSER);
    writer.u8(1).bytes(this.#payloadBytes(proposal)).u8(0);
    writer.length32(1).fixed(proposer).bool(true);
    writer.fixed(proposer).u64(BigInt(Math.floor(proposal.createdAt / 1_000_000)));
  }

  #writeResource(writer: BcsWriter, handle: string): void {
    const { accounts } = this.#world;
    const address = accounts.addressBytes(MULTISIG_ACCOUNT);
    writer.vector([PROPOSER, SECOND_OWNER], (to, owner) => to.fixed(accounts.addressBytes(owner)));
    writer.u64(1n).address(handle);
    writer.u64(BigInt(this.#lastExecuted)).u64(BigInt(this.#nextSequenceNumber));
    writer.u8(1).fixed(address).length32(0);
    for (const [index, count] of this.#counts.entries()) {
      writeEventHandle(writer, count, this.#firstHandle + index, address);
    }
  }
}
