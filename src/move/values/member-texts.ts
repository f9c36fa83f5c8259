/** The texts of members, in the chunks in which they were taken from a writer. */
export class MemberTexts {
  readonly parts: readonly Buffer[][];
  /** Number of complete members. */
  #complete = 0;

  constructor(count: number) {
    this.parts = Array.from({ length: count }, () => []);
  }

  /**
   * @param start where members begin in a piece
   * @param ends ends of the members that are now complete; emptied
   */
  add(piece: Buffer, start: number, ends: number[]): void {
    let at = start;
    for (const end of ends.splice(0)) {
      this.parts[this.#complete]!.push(piece.subarray(at, end));
      this.#complete += 1;
      at = end;
    }
    if (at < piece.length) this.parts[this.#complete]!.push(piece.subarray(at));
  }
}
