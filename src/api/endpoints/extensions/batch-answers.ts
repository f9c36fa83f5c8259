/** The answer to a batch, put together from the answers to its reads as they are. */
import type { MaybePromise } from '../../../maybe-promise.ts';
import { encodeBcs } from '../../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../../move/bcs/hex.ts';
import { BCS_MEDIA_TYPE, type Format } from '../../http/negotiation.ts';
import type { Answer, OtherAnswer } from '../endpoint.ts';
import { joinedAnswer } from '../joined-answer.ts';

/** Texts are joined up to this length, in UTF-16 units: what is longer is made bytes at once. */
const TEXT_LENGTH = 16 * 1024;

/** An answer whose body is in the form that it has in the answer to the batch. */
export function embedded(answer: OtherAnswer, format: Format): OtherAnswer {
  const { body, contentType } = answer;
  if (format === 'bcs') return { ...answer, body: asBytes(body) };
  const isHex = contentType === BCS_MEDIA_TYPE;
  if (!isHex && (typeof body !== 'string' || body.length <= TEXT_LENGTH)) return answer;
  const text = isHex ? `"${formatHex(asBytes(body))}"` : (body as string);
  return { ...answer, body: text.length <= TEXT_LENGTH ? text : Buffer.from(text) };
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
    if (typeof body === 'string') text += body;
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
