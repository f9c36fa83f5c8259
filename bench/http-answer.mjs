// Just enough of HTTP/1.1 for clients that measure: whole requests as bytes, and where an answer ends.

/** A request as it goes over the wire, on a connection that stays open. */
export function requestBytes(hostname, { method = 'GET', path, headers = {}, body }) {
  const given = { host: hostname, ...headers };
  if (body !== undefined) given['content-length'] = Buffer.byteLength(body);
  const head = Object.entries(given).map(([header, value]) => `${header}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body ?? ''}`);
}

/**
 * The whole answer at the beginning of some bytes: its status, its length, and whether it says when to ask again;
 * nothing while its head is incomplete.
 */
export function firstAnswer(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = bytes.latin1Slice(0, headEnd);
  const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const saysWhen = /\r\nretry-after: \d/i.test(head);
  return { status: Number(head.slice(9, 12)), length, saysWhen };
}
