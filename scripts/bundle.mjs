/** Bundles TypeScript for Node: few files load in half the time of many. All are in one folder (src/built.ts). */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join, parse } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

/**
 * Packages are not bundled. They are resolved from the bundle's location.
 * @param root folder of the project
 * @param outDir its files are kept, except those of the same name
 * @param entries paths below `src`; each entry's name is that of a file of the bundle
 */
export async function bundle(root, outDir, entries) {
  await build(configuration(root, outDir, entries, 'js', {}));
}

/**
 * The same as CommonJS, `NAME.cjs`, for programs that cannot load modules, such as Jest tests. ESM-only packages are
 * bundled, so it contains no `import`, and needs `commonjs-licenses.md` beside it.
 */
export async function bundleCommonJs(root, outDir, entries) {
  const output = { format: 'cjs', dynamicImportInCjs: false };
  const common = configuration(root, outDir, entries, 'cjs', output);
  await build({
    ...common,
    ssr: { noExternal: [/^@noble\//] },
    build: { ...common.build, license: { fileName: 'commonjs-licenses.md' } },
  });
}

function configuration(root, outDir, entries, extension, output) {
  return {
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'error',
    build: {
      ...{ ssr: true, outDir, emptyOutDir: false, target: 'es2023', minify: false },
      rolldownOptions: {
        input: Object.fromEntries(
          entries.map((path) => [parse(path).name, join(root, 'src', path)]),
        ),
        // An entry has exactly the exports of its source, with none added for other files.
        preserveEntrySignatures: 'strict',
        output: {
          entryFileNames: `[name].${extension}`,
          chunkFileNames: `[name]-[hash].${extension}`,
          ...output,
        },
      },
    },
  };
}

/**
 * Bundles sources of a project, as its build does, for the lifetime of this process. Unlike sources, bundles can start
 * threads.
 * @returns {Promise<(name: string) => string>} the URL of an entry's file
 */
export async function bundleForNow(root, entries) {
  // Beside the build, so that its packages and the project's package.json are found from there.
  const folder = mkdtempSync(join(root, '.bundled-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, 'dist/web'), join(folder, 'web'));
  await bundle(root, folder, entries);
  return (name) => pathToFileURL(join(folder, `${name}.js`)).href;
}
