/** Builds the answer to a batch from the answers to its reads. */
import type { MaybePromise } from '../../../maybe-promise.ts';
import { encodeBcs } from '../../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../../move/bcs/hex.ts';
import { BCS_MEDIA_TYPE, type Format } from '../../negotiation.ts';
import type { Answer, BatchAnswer } from '../endpoint.ts';
import { joinedAnswer } from '../joined-answer.ts';

/** An answer with its body in the form that the batch's answer contains. */
export function embedded({ body, contentType, ...rest }: BatchAnswer, format: Format): BatchAnswer {
  const bytes = asBuffer(body);
  const isHex = format === 'json' && contentType === BCS_MEDIA_TYPE;
  return { ...rest, contentType, body: isHex ? Buffer.from(`"${formatHex(bytes)}"`) : bytes };
}

export function answersJson(
  version: bigint,
  answers: readonly BatchAnswer[],
): MaybePromise<Answer> {
  const pieces: Buffer[] = [];
  let text = `{"ledger_version":"${version}","responses":[`;
  for (const [index, { status, contentType, body, cursor }] of answers.entries()) {
    const separator = index === 0 ? '' : ',';
    text += `${separator}{"status":${status},"content_type":"${contentType}","body":`;
    pieces.push(Buffer.from(text), asBuffer(body));
    text = cursor === undefined ? '}' : `,"cursor":${JSON.stringify(cursor)}}`;
  }
  return joinedAnswer([...pieces, Buffer.from(`${text}]}`)]);
}

export function answersBcs(version: bigint, answers: readonly BatchAnswer[]): MaybePromise<Answer> {
  const pieces = [encodeBcs((writer) => writer.u64(version).length32(answers.length))];
  for (const { status, contentType, body, cursor } of answers) {
    const bytes = asBuffer(body);
    pieces.push(
      encodeBcs((writer) => writer.u16(status).string(contentType).length32(bytes.length)),
      bytes,
      encodeBcs((writer) => writer.option(cursor, (to, text) => to.string(text))),
    );
  }
  return joinedAnswer(pieces);
}

function asBuffer(body: string | Uint8Array): Buffer {
  return typeof body === 'string'
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
