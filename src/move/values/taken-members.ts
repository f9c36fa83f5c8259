/** The texts of members, in the parts in which they were taken from a writer. */
export class TakenMembers {
  readonly parts: readonly Buffer[][];
  /** Members that are complete. */
  #complete = 0;

  constructor(count: number) {
    this.parts = Array.from({ length: count }, () => []);
  }

  /**
   * @param start where members begin in a piece
   * @param ends where the members end that are complete now; emptied
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
