/** `POST /v1/view` (docs/spec/transactions.md §9.2). */

import { readViewRequest, type ViewRequest } from '../../execution/view-request.ts';
import { andThen } from '../../maybe-promise.ts';
import { parseRequestText } from '../../submission/encode/index.ts';
import { bodyFormat } from '../negotiation.ts';
import { ViewRequestSchema, ViewValuesSchema } from '../schemas/submission-schemas.ts';
import { defineSubmission } from './endpoint.ts';
import { joinedAnswer } from './joined-answer.ts';
import { LEDGER_VERSION } from './parameters.ts';

const VIEW_FUNCTION = 'application/x.aptos.view_function+bcs';

export const viewEndpoint = defineSubmission({
  operationId: 'view',
  tag: 'View',
  summary: 'Execute view function of a module',
  description:
    'Runs a view function on the state of a version and returns its values. What the function changes ' +
    'is dropped.',
  path: '/view',
  parameters: {},
  laterParameters: { ledger_version: LEDGER_VERSION },
  body: {
    schema: ViewRequestSchema,
    bcs: {
      contentType: VIEW_FUNCTION,
      description: 'Module id, function name, vector of type tags, vector of byte vectors.',
    },
    read(bytes, headers): ViewRequest | Buffer {
      if (bodyFormat(headers['content-type'], VIEW_FUNCTION) === 'bcs') return bytes;
      return readViewRequest(parseRequestText(bytes));
    },
  },
  results: {
    description: 'The values that the function returns.',
    json: ViewValuesSchema,
    bcs: 'The number of values as ULEB128, then the BCS of each.',
  },
  failures: [400, 403, 404, 410, 413, 415, 500, 503],
  answer({ parameters: { ledger_version: requestedVersion }, body, view, format, pace }) {
    return andThen(view.callView(body, view.resolveVersion(requestedVersion), pace), (values) =>
      andThen(format === 'json' ? values.json() : values.bcs(), (body) => {
        const gasUsed = values.gasUsed === undefined ? undefined : String(values.gasUsed);
        if (typeof body === 'string') return { body, gasUsed };
        return andThen(joinedAnswer(body, pace, false), (answer) => ({ ...answer, gasUsed }));
      }),
    );
  },
});
