/**
 * The paths of the page: the node answers all of them with its one document, and the page finds its view by them. They
 * are those of the public explorer, so that the host of a link can be swapped. None begins with the interface's `/v1`.
 *
 * `{name}` is a part that stands for a parameter, and `{name?}` one that may be left out, with all behind it. What has
 * no place in a path is in the query. The first path of a view is the one that the page links to; the last one has no
 * parameters.
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
    // Beside the paths of modules `modules` is no part that stands for a parameter.
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

/** The paths as routes: with each part that may be left out, and without it. */
export function pageRoutes(): string[] {
  return Object.values(PAGE_PATHS).flatMap((paths: readonly string[]) =>
    paths.flatMap((path) => {
      const whole = path.replaceAll('?}', '}');
      return path.endsWith('?}') ? [whole.slice(0, whole.lastIndexOf('/')), whole] : [whole];
    }),
  );
}
