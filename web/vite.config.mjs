/**
 * Bundles the page into dist/web: hashed files under assets/, and web/static as it is. Swagger UI comes from
 * @fastify/swagger-ui, which has its files without the install script of swagger-ui-dist, and is copied so that an
 * installed Daybook needs neither. Its dependency @fastify/static would bring 22 packages that nothing here runs:
 * package.json overrides it with a small one.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { defineConfig } from 'vite';

const swaggerFolder = `${dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui'))}/static`;
const swaggerUi = {
  name: 'swagger-ui',
  generateBundle() {
    for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
      const source = readFileSync(`${swaggerFolder}/${name}`);
      this.emitFile({ type: 'asset', fileName: `swagger-ui/${name}`, source });
    }
  },
};

export default defineConfig({
  // Below this path the node serves everything except the two documents.
  base: '/page/',
  publicDir: 'static',
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // The content security policy allows no data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
  },
  plugins: [swaggerUi],
  logLevel: 'warn',
});
