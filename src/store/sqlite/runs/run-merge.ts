/** Merges sorted runs into one, some entries with each commit. */
import { type Block, compareBytes } from './block.ts';
import type { RunFacts } from './manifest.ts';
import { prefixOf, type Run, type RunIndex } from './run.ts';
import type { RunBuilder } from './run-builder.ts';

/** Bytes in front of a key in an entry. */
const HEAD_BYTES = 4;

export class RunMerge {
  /** The newest first. */
  readonly inputs: readonly Run[];
  readonly #sources: MergeSource[];
  readonly #dropsDeleted: boolean;
  readonly #output: RunBuilder;

  /** @param isOfOldest whether the oldest run is among them: nothing is left that a deletion could hide */
  constructor(inputs: readonly Run[], isOfOldest: boolean, output: RunBuilder) {
    this.inputs = inputs;
    this.#dropsDeleted = isOfOldest;
    this.#output = output;
    this.#sources = inputs.map((run) => new MergeSource(run)).filter(({ isAtEnd }) => !isAtEnd);
  }

  get outputNumber(): number {
    return this.#output.number;
  }

  /** Merges so many entries. @returns the finished run @throws StoredValueError */
  advance(entries: number): { readonly facts: RunFacts; readonly index: RunIndex } | undefined {
    const sources = this.#sources;
    for (let left = entries; left > 0 && sources.length > 0; left -= 1) {
      let best = sources[0]!;
      for (let at = 1; at < sources.length; at += 1) {
        const order = sources[at]!.compare(best);
        if (order < 0) best = sources[at]!;
        // The entry of an older run does not count. A source that ends leaves the list.
        else if (order === 0 && this.#step(sources[at]!)) at -= 1;
      }
      if (!this.#dropsDeleted || !best.block.isDeletedAt(best.at)) {
        this.#output.copy(best.block, best.at);
      }
      this.#step(best);
    }
    return sources.length === 0 ? this.#output.finish() : undefined;
  }

  /** @returns whether the source has ended */
  #step(source: MergeSource): boolean {
    source.next();
    if (source.isAtEnd) this.#sources.splice(this.#sources.indexOf(source), 1);
    return source.isAtEnd;
  }
}

/** Where a merge is in one of its runs. */
class MergeSource {
  readonly #run: Run;
  #blockAt = 0;
  #prefix = 0;
  block!: Block;
  at = 0;
  isAtEnd = false;

  constructor(run: Run) {
    this.#run = run;
    this.#open();
  }

  compare(other: MergeSource): number {
    if (this.#prefix !== other.#prefix) return this.#prefix - other.#prefix;
    const [start, otherStart] = [this.block.entryStart(this.at), other.block.entryStart(other.at)];
    return compareBytes(
      this.block.bytes,
      start + HEAD_BYTES,
      start + HEAD_BYTES + this.block.keyBytes(start),
      other.block.bytes,
      otherStart + HEAD_BYTES,
      otherStart + HEAD_BYTES + other.block.keyBytes(otherStart),
    );
  }

  next(): void {
    this.at += 1;
    if (this.at < this.block.count) this.#readPrefix();
    else {
      this.#blockAt += 1;
      this.#open();
    }
  }

  #open(): void {
    for (; this.#blockAt < this.#run.facts.blocks; this.#blockAt += 1) {
      this.block = this.#run.block(this.#blockAt);
      this.at = 0;
      if (this.block.count > 0) {
        this.#readPrefix();
        return;
      }
    }
    this.isAtEnd = true;
  }

  #readPrefix(): void {
    const start = this.block.entryStart(this.at);
    const from = start + HEAD_BYTES;
    this.#prefix = prefixOf(this.block.bytes, from, from + this.block.keyBytes(start));
  }
}
