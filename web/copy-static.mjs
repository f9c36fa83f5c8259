/**
 * Second half of the page's build, after `tsc -p web/tsconfig.json`: puts the page's modules at the top of dist/web and
 * those of src/move, which it shares with the node, into dist/web/move; copies web/static; writes a `modulepreload`
 * link for every module into index.html, so that the browser asks for all of them at once instead of finding them one
 * import at a time. Swagger UI comes from @fastify/swagger-ui, which has its files without the install script of
 * swagger-ui-dist, and is copied so that an installed Daybook needs neither.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('./static/', import.meta.url));
const compiled = fileURLToPath(new URL('../dist/page/', import.meta.url));
const target = fileURLToPath(new URL('../dist/web/', import.meta.url));
const MARK = '    <!-- modulepreload -->\n';

rmSync(target, { recursive: true, force: true });
cpSync(`${compiled}/web/src`, target, { recursive: true });
cpSync(`${compiled}/src/move`, `${target}/move`, { recursive: true });
rmSync(compiled, { recursive: true });
cpSync(source, target, { recursive: true });

const modules = readdirSync(target, { recursive: true })
  .map((path) => String(path).replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.js') && path !== 'spec.js')
  .sort();
for (const path of modules.filter((name) => !name.startsWith('move/'))) {
  const top = '../'.repeat(path.split('/').length - 1) || './';
  const text = readFileSync(`${target}/${path}`, 'utf8');
  writeFileSync(`${target}/${path}`, text.replaceAll(/'(?:\.\.\/)+src\/move\//g, `'${top}move/`));
}

const index = `${target}/index.html`;
const html = readFileSync(index, 'utf8');
if (!html.includes(MARK)) throw new Error(`web/static/index.html lacks the line ${MARK.trim()}`);
const links = modules.map((path) => `    <link rel="modulepreload" href="/page/${path}">\n`);
writeFileSync(index, html.replace(MARK, links.join('')));

const swagger = `${dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui'))}/static`;
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
  cpSync(`${swagger}/${name}`, `${target}/swagger-ui/${name}`);
}
