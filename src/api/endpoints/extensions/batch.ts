/** `POST /v1/batch`, an extension (docs/extensions.md): many reads, answered at one view of the ledger. */

import { andThen, settle } from '../../../maybe-promise.ts';
import type { JsonValue } from '../../../move/json/json-text.ts';
import {
  asList,
  asObject,
  type JsonField,
  stringField,
  unexpectedType,
  within,
} from '../../../submission/encode/fields.ts';
import { parseRequestText } from '../../../submission/encode/index.ts';
import { ApiError, frameworkError } from '../../error-table.ts';
import { BCS_MEDIA_TYPE, type Format, requireJsonBody } from '../../negotiation.ts';
import {
  BatchAnswersSchema,
  BatchRequestSchema,
  MAX_BATCH_READS,
} from '../../schemas/extension-schemas.ts';
import { type Answer, defineSubmission } from '../endpoint.ts';
import { LEDGER_VERSION } from '../parameters.ts';
import { answersBcs, answersJson } from './batch-answers.ts';
import { BatchRun } from './batch-run.ts';

/** Maximum body, in bytes: it is parsed in one piece. */
export const MAX_BATCH_BODY_BYTES = 256 * 1024;

const ACCEPT: Readonly<Record<Format, string>> = { json: 'application/json', bcs: BCS_MEDIA_TYPE };

interface BatchedRead {
  readonly path: string;
  readonly accept: string | undefined;
  readonly body: JsonValue | undefined;
}

export const batchEndpoint = defineSubmission({
  operationId: 'batch',
  isNeverBatched: true,
  tag: 'General',
  summary: 'Answer many reads at one version',
  description:
    `Answers up to ${MAX_BATCH_READS} reads from one state of the ledger, each with its own status: everything ` +
    'that GET answers, and what is posted to be read (table items, raw state values, view functions, encode and ' +
    'decode submission). Health checks, snapshots, submissions and batches are refused. An extension of this node.',
  isExtension: true,
  path: '/batch',
  parameters: {},
  laterParameters: { ledger_version: LEDGER_VERSION },
  body: {
    schema: BatchRequestSchema,
    read(bytes, headers) {
      requireJsonBody(headers['content-type']);
      if (bytes.length > MAX_BATCH_BODY_BYTES) throw frameworkError(413, 'payload too large');
      return readBatch(parseRequestText(bytes));
    },
  },
  results: {
    description: 'The answers, in the order of the requests.',
    json: BatchAnswersSchema,
    bcs:
      'The ledger version as a u64, then a vector of status (u16), content type (string), body (byte vector) and ' +
      'optional cursor (string).',
  },
  answer(call) {
    const { body: reads, parameters, view, format } = call;
    const { ledger_version: requestedVersion } = parameters;
    const defaultAccept = ACCEPT[format];
    const batchReads = reads.map(({ path: target, accept = defaultAccept, body }) => {
      return { target, accept, body, version: requestedVersion };
    });
    const run = new BatchRun(batchReads, call);
    const form = format === 'json' ? answersJson : answersBcs;
    return settle<Answer, Answer>(
      () => andThen(run.run(), (found) => form(requestedVersion ?? view.state.version, found)),
      (answer) => {
        run.end();
        return answer;
      },
      (failure) => {
        run.end();
        throw failure;
      },
    );
  },
});

/** @throws EncodeError of stage `parse`; ApiError 400 for too many reads */
function readBatch(body: JsonValue): readonly BatchedRead[] {
  const requests = asList(asObject(body)?.get('requests'));
  if (requests === undefined) throw unexpectedType('BatchRequest', body, '');
  if (requests.length > MAX_BATCH_READS) {
    const message = `A batch has at most ${MAX_BATCH_READS} requests, this one has ${requests.length}`;
    throw new ApiError(400, 'invalid_input', message);
  }
  return requests.map(readOne);
}

const TRACE = within('BatchedRead', within('BatchRequest', ''));

function readOne(item: JsonValue): BatchedRead {
  const read = asObject(item);
  if (read === undefined) throw unexpectedType('BatchedRead', item, within('BatchRequest', ''));
  const accept = present(read.get('accept'));
  return {
    path: stringField(read.get('path'), 'Path', TRACE),
    accept: accept === undefined ? undefined : stringField(accept, 'MediaType', TRACE),
    body: present(read.get('body')),
  };
}

function present(value: JsonField): JsonValue | undefined {
  return value === null ? undefined : value;
}
