// Removes the types of TypeScript files as they are loaded.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transformWithOxc } from 'vite';

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return await nextLoad(url, context);
  const path = fileURLToPath(url);
  const options = { target: 'es2023', sourcemap: false };
  const { code } = await transformWithOxc(await readFile(path, 'utf8'), path, options);
  return { format: 'module', source: code, shortCircuit: true };
}
