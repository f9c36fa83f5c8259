/**
 * Second half of the page's build, after `tsc -p web/tsconfig.json`: puts the page's modules at the top of dist/web and
 * those of src/move, which it shares with the node, into dist/web/move; copies web/static; writes a `modulepreload`
 * link for every module into index.html, so that the browser asks for all of them at once instead of finding them one
 * import at a time.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
