/** The answer to a batch, put together from the answers to its reads as they are. */
import type { MaybePromise } from '../../../maybe-promise.ts';
import { encodeBcs } from '../../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../../move/bcs/hex.ts';
import { BCS_MEDIA_TYPE } from '../../http/negotiation.ts';
import type { Answer, OtherAnswer } from '../endpoint.ts';
import { joinedAnswer } from '../joined-answer.ts';

/** Texts are joined up to this length, in UTF-16 units: converting a long one to bytes takes its time. */
const TEXT_LENGTH = 64 * 1024;

/** Bytes of an answer in that of the batch, without what is around it. */
export function batchedBytes({ body, contentType }: OtherAnswer, isJson: boolean): number {
  const bytes = Buffer.byteLength(body);
  return isJson && contentType === BCS_MEDIA_TYPE ? 2 * bytes : bytes;
}

export function answersJson(
  version: bigint,
  answers: readonly OtherAnswer[],
): MaybePromise<Answer> {
  const pieces: Buffer[] = [];
  let text = `{"ledger_version":"${version}","responses":[`;
  let separator = '';
  for (const { status, contentType, body, cursor } of answers) {
    text += `${separator}{"status":${status},"content_type":"${contentType}","body":`;
    separator = ',';
    if (contentType === BCS_MEDIA_TYPE) text += `"${formatHex(asBytes(body))}"`;
    else if (typeof body === 'string') text += body;
    else {
      pieces.push(Buffer.from(text), asBuffer(body));
      text = '';
    }
    text += cursor === undefined ? '}' : `,"cursor":${JSON.stringify(cursor)}}`;
    if (text.length > TEXT_LENGTH) {
      pieces.push(Buffer.from(text));
      text = '';
    }
  }
  text += ']}';
  return pieces.length === 0 ? { body: text } : joinedAnswer([...pieces, Buffer.from(text)]);
}

export function answersBcs(version: bigint, answers: readonly OtherAnswer[]): MaybePromise<Answer> {
  const pieces = [encodeBcs((writer) => writer.u64(version).length32(answers.length))];
  for (const { status, contentType, body, cursor } of answers) {
    const bytes = asBytes(body);
    pieces.push(
      encodeBcs((writer) => writer.u16(status).string(contentType).length32(bytes.length)),
      bytes,
      encodeBcs((writer) => writer.option(cursor, (to, text) => to.string(text))),
    );
  }
  return joinedAnswer(pieces);
}

function asBytes(body: string | Uint8Array): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : asBuffer(body);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
