/** Heads of the ledger; their positions are their versions. What was the head before is not stored anywhere. */
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { RecordBatch, RecordSource } from './record-source.ts';

/** Every version touches it. */
export const HEADS_KEY = 'heads';

export class HeadSource implements RecordSource {
  readonly key = HEADS_KEY;
  readonly #jsonOf: (view: LedgerView) => string;

  /** @param jsonOf what is said of a view's head */
  constructor(jsonOf: (view: LedgerView) => string) {
    this.#jsonOf = jsonOf;
  }

  read(view: LedgerView, from: bigint): RecordBatch {
    const { version } = view.state;
    if (version < from) return { records: [], next: from, isEnd: true };
    const json = Buffer.from(this.#jsonOf(view));
    const record = { position: version, id: String(version), json };
    return { records: [record], next: version + 1n, isEnd: true };
  }

  skip(from: bigint): bigint {
    return from;
  }

  end({ state }: LedgerView): bigint {
    return state.version + 1n;
  }
}
