/** Routes of files: the page's files and those of offered snapshots. */
import { SNAPSHOTS_PATH } from '../endpoints/extensions/node.ts';
import { ApiError } from '../error-table.ts';
import { BASE_PATH, decodePathParameter } from '../request-target.ts';
import type { SnapshotOffer } from '../snapshot-offer.ts';
import type { PageFile } from './page-files.ts';
import { pageRoutes } from './page-paths.ts';
import type { Responder } from './responder.ts';
import type { RouteRow } from './routes.ts';

/** Methods that get 405 at a page file's path; all others get 404. */
const REFUSED_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The routes of a file. The page's document answers at the paths of all its views. */
export function pageFileRows(file: PageFile, responder: Responder): RouteRow[] {
  const paths = file.path === '/' ? pageRoutes() : [file.path];
  return paths.map((path) => ({
    path,
    method: 'GET',
    route: {
      operationId: '',
      work: 'none',
      answer: ({ response }) => responder.sendFile(response, file),
    },
    refusedMethods: REFUSED_METHODS,
  }));
}

const METADATA = 'metadata';
const FILE_FACTS = { isImmutable: false, securityHeaders: [] };

/** The files of offered snapshots: FOLDER/FILE, as in a public backup (docs/spec/backup.md §3.1). */
export function snapshotFileRows(offer: SnapshotOffer, responder: Responder): RouteRow[] {
  const snapshotFile = async (snapshot: string, folder: string, name: string) => {
    const file = await offer.file(snapshot, folder, name);
    return file && { ...FILE_FACTS, contentType: 'application/octet-stream', ...file };
  };
  const rows: Record<string, (text: PathText) => Promise<OfferedPage | undefined>> = {
    [`${METADATA}/`]: async (text) => directoryListing(await offer.metadataNames(text('snapshot'))),
    [`${METADATA}/{name}`]: (text) => snapshotFile(text('snapshot'), METADATA, text('name')),
    '{folder}/{name}': (text) => snapshotFile(text('snapshot'), text('folder'), text('name')),
  };
  return Object.entries(rows).map(([path, find]) => ({
    path: `${BASE_PATH}${SNAPSHOTS_PATH}/{snapshot}/${path}`,
    method: 'GET',
    route: {
      operationId: 'get_snapshot_file',
      work: 'listing',
      async answer({ response, path: raw }) {
        const file = await find((parameter) => decodePathParameter(raw[parameter]!));
        if (file !== undefined) return await responder.sendFile(response, file);
        throw new ApiError(404, 'web_framework_error', 'There is no such file of a snapshot');
      },
    },
  }));
}

type PathText = (parameter: string) => string;
type OfferedPage = Omit<PageFile, 'path'>;

/** A folder listing in the form that web servers use. */
function directoryListing(names: readonly string[] | undefined): OfferedPage | undefined {
  if (names === undefined) return undefined;
  const page = names.map((name) => `<a href="${name}">${name}</a>\n`).join('');
  const tagCore = names.join('-');
  return {
    ...FILE_FACTS,
    contentType: 'text/html; charset=utf-8',
    ...{ bytes: Buffer.from(page), tagCore },
  };
}
