/**
 * Second half of the page's build, after `tsc -p web/tsconfig.json`: copies web/static to dist/web
 * and writes a `modulepreload` link for every module into index.html, so that the browser asks for
 * all of them at once instead of finding them one import at a time.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('./static/', import.meta.url));
const target = fileURLToPath(new URL('../dist/web/', import.meta.url));
const MARK = '    <!-- modulepreload -->\n';

cpSync(source, target, { recursive: true });

const index = `${target}/index.html`;
const html = readFileSync(index, 'utf8');
if (!html.includes(MARK)) throw new Error(`web/static/index.html lacks the line ${MARK.trim()}`);
const links = readdirSync(target, { recursive: true })
  .map((path) => String(path).replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.js') && path !== 'spec.js')
  .sort()
  .map((path) => `    <link rel="modulepreload" href="/page/${path}">\n`)
  .join('');
writeFileSync(index, html.replace(MARK, links));
