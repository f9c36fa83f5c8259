/** The handwritten files of this repository, for tests of its rules. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface SourceFile {
  /** Path below the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** All files below `folder` whose name has one of `endings`. */
export function filesBelow(folder: string, endings: readonly string[]): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('node_modules'))
    .map((path) => ({
      path: relative(ROOT, path).replaceAll('\\', '/'),
      text: readFileSync(path, 'utf8'),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
