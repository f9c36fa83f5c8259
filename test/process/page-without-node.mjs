/**
 * Runs modules of the page, bundled into the folder given as argument, without Node's globals, as in a browser; prints
 * how they decode messages.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const vectors = readFileSync(new URL('../fixtures/encode-vectors.json', import.meta.url), 'utf8');
const { process: node, Buffer: bytes } = globalThis;
delete globalThis.process;
delete globalThis.Buffer;
const page = pathToFileURL(`${node.argv[2]}/`);
const { divideSigningMessage, hexDigits, readHexText } = await import(
  new URL('signing-message.js', page)
);
const { formatJson, parseJson } = await import(new URL('exact-json.js', page));
const messages = parseJson(vectors).map((vector) => vector.signing_message);
const found = messages.map((hex) => {
  const message = readHexText(hex);
  const { problem } = divideSigningMessage(message);
  return problem === undefined && !(message instanceof bytes) && `0x${hexDigits(message)}` === hex;
});
const json = formatJson(parseJson('{"é":[1e400,"\\ud83d\\ude00"]}'));
globalThis.process = node;
globalThis.Buffer = bytes;
console.log(JSON.stringify({ found, json }));
