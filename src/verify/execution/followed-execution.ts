/**
 * Executes what is followed before it is committed: each transaction on the state that the ones before have left, and
 * the root of the state at each checkpoint (docs/follow.md).
 */
import { decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { StateTree } from '../../move/crypto/state-tree.ts';
import { readOnChainData } from '../../move/transactions/transaction.ts';
import type { Head } from '../../store/columns/head.ts';
import { stateTreeAt } from '../../store/read/live-state.ts';
import { type Chunk, lastVersionOf } from '../../store/write/chunk.ts';
import type { LedgerWriter } from '../../store/write/writer.ts';
import { type Difference, Replay } from './replay.ts';
import { MAX_WALKED_VALUES, rootDifference } from './state-roots.ts';

/** A version whose execution has another outcome, or cannot be executed here. */
export class ExecutionDifference extends Error {
  readonly difference: Difference;

  constructor(difference: Difference) {
    const { version, isOpen, detail } = difference;
    super(`version ${version} ${isOpen ? 'cannot be executed' : 'has another outcome'}: ${detail}`);
    this.name = 'ExecutionDifference';
    this.difference = difference;
  }
}

interface Position {
  readonly replay: Replay;
  /** The state after the last version that was executed; absent where it has too many values. */
  tree: StateTree | undefined;
  next: bigint;
}

export class FollowedExecution {
  readonly #writer: LedgerWriter;
  #position: Position | undefined;

  constructor(writer: LedgerWriter) {
    this.#writer = writer;
  }

  /** @throws ExecutionDifference for the first version whose outcome differs from the stated one */
  async check(chunk: Chunk): Promise<void> {
    if (this.#position?.next !== chunk.firstVersion) this.#position = await this.#begin();
    const position = this.#position;
    for (const { transaction } of chunk.transactions) {
      const item = decodeBcs(Buffer.from(transaction!), readOnChainData);
      const found =
        (await position.replay.differenceOf(item)) ??
        (position.tree && rootDifference(position.tree, item.data));
      if (found !== undefined) throw new ExecutionDifference(found);
      position.replay.advance(item, false);
      if (position.tree !== undefined && position.tree.count > MAX_WALKED_VALUES) {
        position.tree = undefined;
      }
    }
    position.next = lastVersionOf(chunk) + 1n;
  }

  /** All versions up to the head are stored from now on. */
  markStored(head: Head): void {
    this.#position?.replay.markStored(head);
  }

  /** Begins after what is stored: what was checked before and then not committed is checked again. */
  async #begin(): Promise<Position> {
    const { head, reader } = this.#writer;
    const replay = await Replay.open(reader, head);
    if (head === undefined) return { replay, tree: new StateTree(), next: 0n };
    const tree = await stateTreeAt(reader, head.version, MAX_WALKED_VALUES);
    return { replay, tree, next: head.version + 1n };
  }
}
