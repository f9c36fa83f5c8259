/**
 * `POST /v1/transactions/encode_submission` (docs/spec/http.md §5.8; docs/spec/encode.md A; docs/spec/decisions.md
 * D2).
 */

import { andThen } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { encodeValue, parseRequestText, readEncodeRequest } from '../../submission/encode/index.ts';
import { requireJsonBody } from '../negotiation.ts';
import { EncodeRequestSchema, HexEncodedBytesSchema } from '../schemas/schemas.ts';
import { defineSubmission } from './endpoint.ts';

export const encodeSubmissionEndpoint = defineSubmission({
  operationId: 'encode_submission',
  tag: 'Transactions',
  summary: 'Encode submission',
  description:
    'Checks a transaction request and returns the bytes that its signers sign, as hex. Nothing is ' +
    'submitted. Argument types come from the modules of the latest version.',
  path: '/transactions/encode_submission',
  parameters: {},
  body: {
    schema: EncodeRequestSchema,
    read(bytes, headers) {
      requireJsonBody(headers['content-type']);
      return parseRequestText(bytes);
    },
    // Encoding parses and verifies as it writes, so this is only for requests that are refused. (If the store is
    // damaged, its failure may come before that of a field after the payload.)
    check(value) {
      readEncodeRequest(value);
    },
  },
  results: {
    description: 'The signing message.',
    json: HexEncodedBytesSchema,
    bcs: 'The signing message as a byte vector: ULEB128 length, then the bytes.',
  },
  answer({ body, view, format }) {
    const message = encodeValue(body, {
      chainId: view.state.chainId,
      lookupModule: view.lookupModule,
    });
    return andThen(message, (bytes) => ({
      body:
        format === 'json' ? `"${formatHex(bytes)}"` : encodeBcs((writer) => writer.bytes(bytes)),
    }));
  },
});
