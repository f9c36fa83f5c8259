/** The bodies of requests to servers other than that of the interface: faucet, control, GraphQL. */
import type { IncomingMessage } from 'node:http';

/** @returns `undefined` for a body that is longer than `maxBytes` */
export async function receivedBytes(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += (part as Buffer).length;
    if (bytes > maxBytes) return undefined;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}
