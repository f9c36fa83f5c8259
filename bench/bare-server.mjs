// The reference point: a node:http server that answers every request with one given response, after reading its body.
// Started as a child: node bare-server.mjs RESPONSE_FILE, prints {"url":…} when it listens on loopback.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { status, headers, body } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const bytes = Buffer.from(body, 'base64');
const headerList = Object.entries({ ...headers, 'content-length': String(bytes.length) });
const flat = headerList.flat();

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => response.writeHead(status, flat).end(bytes));
    return;
  }
  response.writeHead(status, flat).end(bytes);
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
