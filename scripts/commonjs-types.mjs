/**
 * Declarations for programs that TypeScript compiles to CommonJS: it would take the package's own for those of an ES
 * module.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const IMPORTED = /(?:from|import\()\s*'(\.[^']+)\.[jt]s'/g;

/**
 * Copies declarations, and everything they import, to a folder in which they are CommonJS. @param dist folder of the
 * build
 */
export function copyCommonJsTypes(dist, entries) {
  const folder = join(dist, 'commonjs');
  rmSync(folder, { recursive: true, force: true });
  const paths = new Set(entries.map((path) => path.replace(/\.ts$/, '.d.ts')));
  // `paths` grows during this loop.
  for (const path of paths) {
    const text = readFileSync(join(dist, path), 'utf8');
    for (const [, imported] of text.matchAll(IMPORTED)) {
      paths.add(`${normalize(join(dirname(path), imported))}.d.ts`);
    }
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(dist, path), join(folder, path));
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
}
