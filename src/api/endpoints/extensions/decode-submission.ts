/** `POST /v1/transactions/decode_submission` (docs/extensions.md). */

import { encodeBcs } from '../../../move/bcs/bcs-writer.ts';
import { JsonSyntaxError, type JsonValue, parseJson } from '../../../move/json/json-text.ts';
import { describeJsonKind, formatJson } from '../../../move/json/json-text-print.ts';
import {
  decodeSubmission,
  parseMessageText,
  submissionJson,
} from '../../../submission/decode/index.ts';
import { type ApiError, frameworkError } from '../../error-table.ts';
import { requireJsonBody } from '../../negotiation.ts';
import { DecodedSubmissionSchema, SigningMessageSchema } from '../../schemas/extension-schemas.ts';
import { defineSubmission } from '../endpoint.ts';

export const decodeSubmissionEndpoint = defineSubmission({
  operationId: 'decode_submission',
  tag: 'Transactions',
  summary: 'Decode submission',
  description:
    'Takes the bytes that the signers of a transaction sign, and returns the request that encode ' +
    'submission makes them of, with notes on what they do: its inverse, for people to see what they ' +
    'are about to sign. Arguments are shown by the parameter types that the called function has at the ' +
    'latest version. The answer can be posted to encode submission; its notes say whether that gives ' +
    'the same bytes. An extension of this node.',
  isExtension: true,
  path: '/transactions/decode_submission',
  parameters: {},
  body: {
    schema: SigningMessageSchema,
    read(bytes, headers) {
      requireJsonBody(headers['content-type']);
      return parseMessageText(stringBody(bytes));
    },
  },
  results: {
    description: 'The request, with notes.',
    json: DecodedSubmissionSchema,
    bcs: 'The JSON text as a string: ULEB128 length, then UTF-8.',
  },
  async answer({ body, view, format }) {
    const decoded = await decodeSubmission(body, {
      chainId: view.state.chainId,
      timestampUsecs: view.state.timestampUsecs,
      lookupModule: view.lookupModule,
    });
    const json = formatJson(submissionJson(decoded));
    return { body: format === 'json' ? json : encodeBcs((writer) => writer.string(json)) };
  },
});

/** Parses a body that is a single string. @throws ApiError 400, worded like the errors of other bodies */
function stringBody(bytes: Buffer): string {
  let value: JsonValue;
  try {
    value = bytes.length === 0 ? null : parseJson(bytes);
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    throw badBody(cause.message);
  }
  if (typeof value === 'string') return value;
  const kind = describeJsonKind(value);
  throw badBody(
    `failed to parse "string(HexEncodedBytes)": invalid type: ${kind}, expected a string`,
  );
}

function badBody(reason: string): ApiError {
  return frameworkError(400, `parse request payload error: ${reason}`);
}
