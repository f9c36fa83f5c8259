/**
 * Bundles GraphiQL into dist/graphiql, with the licences of its contents. The npm package has its dependencies in one
 * script, so package.json overrides them with a small package.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig } from 'vite';

const { resolve } = createRequire(import.meta.url);
const PACKAGES = ['graphiql', 'react', 'react-dom'];

/** The packages inside GraphiQL's script, as its comments name them. */
function innerPackages() {
  const script = readFileSync(resolve('graphiql/graphiql.min.js'), 'utf8');
  const names = script.matchAll(/!\*{3} [./]+node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//g);
  return [...new Set(Array.from(names, ([, name]) => name))].sort();
}

function licenceOf(name) {
  const folder = dirname(resolve(`${name}/package.json`));
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8')}`;
}

const notice = {
  name: 'notice',
  generateBundle() {
    const inner = `The script of graphiql has these npm packages in it: ${innerPackages().join(', ')}.\n`;
    const fonts =
      'Its style sheet has the fonts Roboto (Apache-2.0) and Fira Code (OFL-1.1) in it.\n';
    const source = [...PACKAGES.map(licenceOf), inner, fonts].join('\n\n');
    this.emitFile({ type: 'asset', fileName: 'NOTICE', source });
  },
};

export default defineConfig({
  base: '/graphiql/',
  build: {
    outDir: '../../dist/graphiql',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4_000,
  },
  plugins: [notice],
  logLevel: 'warn',
});
