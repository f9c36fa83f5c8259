/** `POST /v1/view` (docs/spec/transactions.md §9.2). */
import { parseRequestText } from '../../ledger/encode/index.ts';
import { NotRunError } from '../../ledger/views/view-error.ts';
import { readViewRequest, type ViewRequest } from '../../ledger/views/view-request.ts';
import { bodyFormat } from '../http/negotiation.ts';
import { ViewRequestSchema, ViewValuesSchema } from '../schemas/submission-schemas.ts';
import { defineSubmission } from './endpoint.ts';
import { refuse } from './execution.ts';
import { LEDGER_VERSION } from './parameters.ts';

const VIEW_FUNCTION = 'application/x.aptos.view_function+bcs';

export const viewEndpoint = defineSubmission({
  operationId: 'view',
  isPassedOn: true,
  tag: 'View',
  summary: 'Execute view function of a module',
  description:
    'Calls a view function and returns its values. This node runs no code: it answers the plain reads ' +
    'of the framework’s state, such as `0x1::coin::balance`, without it. With an upstream it passes all ' +
    'calls on; without one, other functions are answered with 403.',
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
  switchName: 'View function',
  results: {
    description: 'The values that the function returns.',
    json: ViewValuesSchema,
    bcs: 'The number of values as ULEB128, then the BCS of each.',
  },
  failures: [400, 403, 404, 410, 413, 415, 500, 503],
  async answer({ parameters: { ledger_version: asked }, body, view, format }) {
    const version = view.resolveVersion(asked);
    try {
      const values = await view.callView(body, version);
      return { body: format === 'json' ? await values.json() : values.bcs() };
    } catch (error) {
      if (!(error instanceof NotRunError)) throw error;
      refuse(
        'This view function',
        'runs no code and answers only plain reads of today’s framework',
      );
    }
  },
});
