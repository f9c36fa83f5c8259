/**
 * Blocks whose checksums were compared, by id. Blocks never change. Reading a block from SQLite and checking it takes
 * ten times as long as finding a key in it, and blocks with what is read most are few.
 */
import type { Block } from './block.ts';

/** Blocks of one generation: 8 MiB. */
const MAX_BLOCKS = 2_048;

/** Has the blocks that were used since the generation before last. */
export class BlockCache {
  #young = new Map<number, Block>();
  #old = new Map<number, Block>();

  get(id: number): Block | undefined {
    const block = this.#young.get(id);
    if (block !== undefined) return block;
    const aged = this.#old.get(id);
    if (aged !== undefined) this.add(id, aged);
    return aged;
  }

  add(id: number, block: Block): void {
    if (this.#young.size >= MAX_BLOCKS) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(id, block);
  }
}
