/** `GET /v1/accounts/{address}/module/{module_name}` (docs/spec/http.md §5.5, §8). */
import { copiedBytes } from '../../cache.ts';
import type { StoredModule } from '../../ledger/modules/stored-module.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import { type ApiCaches, bytesOfAnswer } from '../http/caches.ts';
import type { Format } from '../http/negotiation.ts';
import { ModuleSchema } from '../schemas/schemas.ts';
import { type Answer, defineRead } from './endpoint.ts';
import { ADDRESS, IDENTIFIER, LEDGER_VERSION, pathParameter } from './parameters.ts';

export const moduleEndpoint = defineRead({
  operationId: 'get_account_module',
  tag: 'Accounts',
  summary: 'Get account module',
  description:
    'Retrieves one module of an account at a ledger version: its bytecode and its interface. ' +
    'A version below the oldest kept one is answered with 410.',
  isDecidedByView: true,
  path: '/accounts/{address}/module/{module_name}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that holds the module.'),
    module_name: pathParameter(IDENTIFIER, 'Name of the module; case-sensitive.'),
    ledger_version: LEDGER_VERSION,
  },
  switchName: 'Get account module',
  results: {
    description: 'The module.',
    json: ModuleSchema,
    bcs: 'The stored bytes of the module as they are, without a length.',
  },
  answer({ parameters, view, format, bodies }) {
    const { address, module_name: name, ledger_version: asked } = parameters;
    const version = view.resolveVersion(asked, address);
    return andThen(view.module(address, name, version), (module) => {
      const found = bodyOf(module, `${address}::${name}`, format, bodies);
      return asked === undefined
        ? found
        : andThen(found, (answer) => ({ ...answer, pinned: true }));
    });
  },
});

/** The module in a format; cached, since it is the same until the module is published again. */
function bodyOf(
  module: StoredModule,
  id: string,
  format: Format,
  bodies: ApiCaches['bodies'],
): MaybePromise<Answer> {
  const make = (): Answer => {
    const body = format === 'json' ? copiedBytes(Buffer.from(module.json())) : module.bytes;
    return { body, tagCore: contentDigest(body), isReused: true };
  };
  return bodies.getOrMake(`${id}@${module.writtenAtVersion} ${format}`, make, bytesOfAnswer);
}
