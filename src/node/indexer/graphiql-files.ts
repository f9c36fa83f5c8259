/** GraphiQL, which the build bundles: files that are read on request. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { builtFile } from '../../built.ts';

const DOCUMENT = 'graphiql/index.html';
const ASSETS = 'graphiql/assets/';
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
/** Its parts set styles, and its style sheet has fonts and pictures in it. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; font-src data:; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

interface GraphiqlFile {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** @returns `undefined` if the path has no file */
export function graphiqlFile(pathname: string): GraphiqlFile | undefined {
  const name = pathname === '/' ? DOCUMENT : assetNames().get(pathname);
  if (name === undefined || !existsSync(builtFile(name))) return undefined;
  return {
    bytes: readFileSync(builtFile(name)),
    headers: {
      'content-type': CONTENT_TYPES[extname(name)] ?? 'application/octet-stream',
      // The name of an asset has a digest of its content.
      'cache-control': name === DOCUMENT ? 'no-cache' : 'public, max-age=31536000, immutable',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  };
}

/** A list of known paths, so that the path of a request is never used on disk. */
function assetNames(): ReadonlyMap<string, string> {
  const folder = builtFile(ASSETS);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(names.map((name) => [`/${ASSETS}${name}`, ASSETS + name]));
}
