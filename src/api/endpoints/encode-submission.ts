/**
 * `POST /v1/transactions/encode_submission` (docs/spec/http.md §5.8; docs/spec/encode.md A; docs/spec/decisions.md
 * D2).
 */
import { encodeValue, parseRequestText, readEncodeRequest } from '../../ledger/encode/index.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import type { Format } from '../http/negotiation.ts';
import { EncodeRequestSchema, HexEncodedBytesSchema } from '../schemas/schemas.ts';
import { type Answer, defineEndpoint } from './endpoint.ts';
import { requireJsonBody } from './json-body.ts';
import { DisabledError, requireOutput } from './output-switches.ts';

const requireEncodeOutput = requireOutput('Encode submission');

/** The bytes to sign for a transaction given as JSON. */
export const encodeSubmissionEndpoint = defineEndpoint({
  operationId: 'encode_submission',
  tag: 'Transactions',
  summary: 'Encode submission',
  description:
    'Checks a transaction request and returns the bytes that its signers sign, as hex. Nothing is ' +
    'submitted. Argument types come from the modules of the latest version.',
  method: 'POST',
  path: '/transactions/encode_submission',
  parameters: {},
  body: {
    schema: EncodeRequestSchema,
    read(bytes, headers) {
      requireJsonBody(headers);
      return parseRequestText(bytes);
    },
    // The quick way of encoding reads and verifies as it writes, so that this is for refusals only. (Where the store
    // is damaged, its failure may come before that of a field behind the payload.)
    check(value) {
      readEncodeRequest(value);
    },
  },
  checkSwitches(settings, format) {
    if (!settings.encodeSubmissionEnabled) {
      throw new DisabledError(
        'Encode submission is not allowed. Only JSON is supported as an AcceptType.',
      );
    }
    requireEncodeOutput(settings, format);
  },
  results: {
    description: 'The signing message.',
    json: HexEncodedBytesSchema,
    bcs: 'The signing message as a byte vector: ULEB128 length, then the bytes.',
  },
  failures: [400, 403, 413, 415, 500, 503],
  answer({ body, view, format, settings }) {
    const message = encodeValue(body, {
      chainId: view.state.chainId,
      lookupModule: view.lookupModule,
      domainPrefix: settings.signingDomainPrefix,
    });
    return message instanceof Promise
      ? message.then((bytes) => answerOf(bytes, format))
      : answerOf(message, format);
  },
});

function answerOf(message: Buffer, format: Format): Answer {
  return format === 'json'
    ? { body: `"${formatHex(message)}"` }
    : { body: encodeBcs((writer) => writer.bytes(message)) };
}
