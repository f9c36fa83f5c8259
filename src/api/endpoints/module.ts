/** `GET /v1/accounts/{address}/module/{module_name}` (docs/spec/http.md §5.5, §8). */
import type { ModuleAnswer } from '../../ledger/api-contract.ts';
import { contentTag } from '../../ledger/content-tag.ts';
import { ModuleSchema } from '../schemas/schemas.ts';
import { type Answer, defineEndpoint } from './endpoint.ts';
import { requireOutput } from './output-switches.ts';
import { ADDRESS, IDENTIFIER, pathParameter, queryParameter, U64 } from './parameters.ts';

/** Answers made of a module's stored bytes, kept as long as the ledger keeps the module at hand. */
interface Rendered {
  json?: Answer;
  bcs?: Answer;
}
const rendered = new WeakMap<ModuleAnswer, Rendered>();

function renderedAs(module: ModuleAnswer, format: 'json' | 'bcs'): Answer {
  let forms = rendered.get(module);
  if (forms === undefined) {
    forms = {};
    rendered.set(module, forms);
  }
  let answer = forms[format];
  if (answer === undefined) {
    const body = format === 'json' ? Buffer.from(module.json()) : module.bytes;
    answer = { body, tagCore: contentTag(body), compressed: new Map() };
    forms[format] = answer;
  }
  return answer;
}

/** A module's bytes and interface at a version. */
export const moduleEndpoint = defineEndpoint({
  operationId: 'get_account_module',
  tag: 'Accounts',
  summary: 'Get account module',
  description:
    'Retrieves one module of an account at a ledger version: its bytecode and its interface. ' +
    'A version below the oldest kept one is answered with 410.',
  method: 'GET',
  isDecidedByView: true,
  path: '/accounts/{address}/module/{module_name}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that holds the module.'),
    module_name: pathParameter(IDENTIFIER, 'Name of the module; case-sensitive.'),
    ledger_version: queryParameter(U64, 'Version to read at; the latest when absent.'),
  },
  checkSwitches: requireOutput('Get account module'),
  results: {
    description: 'The module.',
    json: ModuleSchema,
    bcs: 'The stored bytes of the module as they are, without a length.',
  },
  failures: [400, 403, 404, 410, 500, 503],
  async answer({ parameters, view, format }) {
    const version = view.resolveVersion(parameters.ledger_version, parameters.address);
    const module = await view.module(parameters.address, parameters.module_name, version);
    const answer = renderedAs(module, format);
    return parameters.ledger_version === undefined ? answer : { ...answer, pinned: true };
  },
});
