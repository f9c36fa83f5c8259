// Builds chain.br from ../shared: `node test/reference/bundle.mjs`. It is one Brotli stream over all files, because
// genesis, feed and answers contain the same modules and resources.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gunzipSync } from 'node:zlib';

const shared = new URL('../../../shared/', import.meta.url);
const read = (path) => readFileSync(new URL(path, shared));

const files = [['genesis.blob', gunzipSync(read('reference-chain/genesis.blob.gz'))]];
for (const name of readdirSync(new URL('reference-chain/pages/', shared)).sort()) {
  const path = `reference-chain/pages/${name}`;
  files.push([`pages/${name.replace('.gz', '')}`, gunzipSync(read(path))]);
}
for (const path of [
  'reference-chain/waypoint.txt',
  'reference-chain/offsets.json',
  'reference-chain/answers.jsonl',
  'reference-chain/transactions.jsonl',
  'reference-chain/state.jsonl',
  'vectors/views.jsonl',
  'vectors/encrypted.jsonl',
  'vectors/transactions.jsonl',
]) {
  files.push([path.replace('reference-chain/', ''), read(path)]);
}
// The second ledger is the one of recorded simulations.
const simulations = 'reference-simulations/';
files.push(['simulations/genesis.blob', gunzipSync(read(`${simulations}genesis.blob.gz`))]);
for (const name of readdirSync(new URL(`${simulations}pages/`, shared)).sort()) {
  const page = gunzipSync(read(`${simulations}pages/${name}`));
  files.push([`simulations/pages/${name.replace('.gz', '')}`, page]);
}
for (const name of ['waypoint.txt', 'offsets.json']) {
  files.push([`simulations/${name}`, read(simulations + name)]);
}
files.push(['simulations/answers.jsonl', gunzipSync(read(`${simulations}answers.jsonl.gz`))]);
const index = Buffer.from(`${JSON.stringify(files.map(([name, { length }]) => [name, length]))}\n`);
const whole = Buffer.concat([index, ...files.map(([, bytes]) => bytes)]);
const params = {
  [constants.BROTLI_PARAM_LGWIN]: 24,
  [constants.BROTLI_PARAM_QUALITY]: 11,
  [constants.BROTLI_PARAM_SIZE_HINT]: whole.length,
};
const bundle = brotliCompressSync(whole, { params });
writeFileSync(new URL('chain.br', import.meta.url), bundle);
console.log(`${files.length} files, ${whole.length} bytes, ${bundle.length} compressed`);
