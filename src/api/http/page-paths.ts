/**
 * The paths of the page. The node answers all of them with one document, and the page selects its view by the path.
 * They are those of the public explorer, so that the host of a link can be swapped. None begins with the interface's
 * `/v1`.
 *
 * `{name}` is a parameter. `{name?}` is an optional one: it may be left out, with everything after it. Other parameters
 * are in the query. The first path of a view is the one that the page links to; the last one has no parameters.
 */
export const PAGE_PATHS = {
  overview: ['/'],
  transactions: ['/transactions'],
  transaction: ['/txn/{id}/{show?}', '/txn'],
  blocks: ['/blocks'],
  block: ['/block/{height}/{show?}', '/block'],
  module: [
    '/account/{account}/modules/code/{name}/{item?}',
    '/account/{account}/modules/view/{name}/{item?}',
    '/account/{account}/modules/run/{name}/{item?}',
    '/module',
  ],
  account: [
    '/account/{address}/{show?}',
    // The paths of modules make `modules` a literal segment, so `{show?}` does not match it.
    '/account/{address}/modules',
    '/object/{address}/{show?}',
    '/account',
  ],
  events: ['/events'],
  asset: ['/fungible_asset/{asset}/{show?}', '/coin/{asset}/{show?}', '/coins'],
  collection: ['/collection/{address}/{show?}', '/collection'],
  token: ['/token/{address}/{show?}', '/token'],
  table: ['/table/{handle}', '/table'],
  validators: ['/validators'],
  balance: ['/balance'],
  encode: ['/encode'],
  local: ['/local'],
  search: ['/search'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ViewName = keyof typeof PAGE_PATHS;

/** The paths as routes: with each optional parameter, and without it. */
export function pageRoutes(): string[] {
  return Object.values(PAGE_PATHS).flatMap((paths: readonly string[]) =>
    paths.flatMap((path) => {
      const whole = path.replaceAll('?}', '}');
      return path.endsWith('?}') ? [whole.slice(0, whole.lastIndexOf('/')), whole] : [whole];
    }),
  );
}
