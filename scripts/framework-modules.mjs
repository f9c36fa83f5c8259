/**
 * The modules of the default framework. They come from the npm package @typemove/aptos, a development dependency, which
 * has the bytecode of 0x1, 0x3 and 0x4. Its `exports` do not name these files. Its own dependencies are not needed:
 * package.json overrides them with something small.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The folder of the package, or `undefined` if it is not installed. */
export function frameworkFolder() {
  try {
    const main = createRequire(import.meta.url).resolve('@typemove/aptos');
    return main.slice(0, main.lastIndexOf(join('dist', 'esm')));
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

export function readFrameworkModules(folder) {
  return ['0x1', '0x3', '0x4'].flatMap((address) =>
    JSON.parse(readFileSync(join(folder, `src/abis/${address}.json`), 'utf8')).map(({ bytecode }) =>
      Buffer.from(bytecode.slice(2), 'hex'),
    ),
  );
}

/** The notice of the modules' origin and license. */
export function frameworkNotice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const text = readFileSync(join(folder, 'LICENSE'), 'utf8');
  return `The modules of the default genesis are those of the npm package ${name} ${version} (${license}).\n\n${text}`;
}
