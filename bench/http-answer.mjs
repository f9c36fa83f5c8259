// Just enough HTTP/1.1 for measuring clients: encodes whole requests, and finds where a response ends.

/** The bytes of a request on a connection that stays open. */
export function requestBytes(hostname, { method = 'GET', path, headers = {}, body }) {
  const given = { host: hostname, ...headers };
  if (body !== undefined) given['content-length'] = Buffer.byteLength(body);
  const head = Object.entries(given).map(([header, value]) => `${header}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body ?? ''}`);
}

/**
 * Status and length of the response at the beginning of `bytes`, and whether it says when to retry; `undefined` while
 * its headers are incomplete.
 */
export function firstAnswer(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = bytes.latin1Slice(0, headEnd);
  const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const saysWhen = /\r\nretry-after: \d/i.test(head);
  return { status: Number(head.slice(9, 12)), length, saysWhen };
}
