/** Answers that were recorded by their questions. */
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { BcsReader } from '../move/bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { Batch } from '../store/batch.ts';
import { answerKey, FORK_ANSWERS } from '../store/columns/fork-columns.ts';
import { decodeRow } from '../store/columns/row-codec.ts';
import type { StoreReader } from '../store/store.ts';

/** How the answers to questions of one kind are stored. */
export interface AnswerCodec<T> {
  write(writer: BcsWriter, answer: T): unknown;
  read(reader: BcsReader): T;
}

/** `undefined` where the question was never answered. @throws RowDamagedError */
export function recordedAnswer<T>(
  store: StoreReader,
  question: string,
  codec: AnswerCodec<T>,
): MaybePromise<{ readonly answer: T } | undefined> {
  const key = answerKey(question);
  return andThen(store.get(FORK_ANSWERS, key.partition, key.order), (value) => {
    if (value === undefined) return undefined;
    return { answer: decodeRow(FORK_ANSWERS, key, value, (reader) => codec.read(reader)) };
  });
}

export function putAnswer<T>(
  batch: Batch,
  question: string,
  codec: AnswerCodec<T>,
  answer: T,
): void {
  const { partition, order } = answerKey(question);
  batch.put(
    FORK_ANSWERS,
    partition,
    order,
    encodeBcs((writer) => codec.write(writer, answer)),
  );
}
