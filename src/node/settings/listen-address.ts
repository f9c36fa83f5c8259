/** Addresses of settings, `HOST:PORT`, and listening on them. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { NodeError, reasonOf } from '../node-error.ts';

export interface ListenAddress {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/**
 * Parses `127.0.0.1:8080`, `localhost:0`, `[::1]:8080`.
 * @param setting the setting's name, for the message
 * @throws NodeError `bad_setting`
 */
export function parseListenAddress(text: string, setting = 'listen'): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new NodeError(
      'bad_setting',
      `${setting}: ${JSON.stringify(text)} is not a HOST:PORT (for example 127.0.0.1:8080, [::1]:8080, 127.0.0.1:0)`,
      { exitCode: 2 },
    );
  }
  return { host: match[1] ?? match[2]!, port };
}

/** Has a server listen. @returns the port @throws NodeError `listen_failed` */
export async function listen(server: Server, address: ListenAddress): Promise<number> {
  try {
    await once(server.listen(address), 'listening');
  } catch (cause) {
    const message = `cannot listen on ${address.host}:${address.port}: ${reasonOf(cause)}`;
    throw new NodeError('listen_failed', message, { cause });
  }
  return (server.address() as AddressInfo).port;
}

/** Checks early, before long work, that an address can be listened on. @throws NodeError `listen_failed` */
export async function checkFree(address: ListenAddress): Promise<void> {
  const server = createServer();
  await listen(server, address);
  server.close();
  await once(server, 'close');
}

/** The URL of the interface at a bound address: `http://127.0.0.1:8080/v1`. */
export function interfaceUrl(host: string, port: number): string {
  const shown = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}/v1`;
}
