/** The `HOST:PORT` of the `listen` setting. */
import { NodeError } from '../node-error.ts';

export interface ListenAddress {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/**
 * Reads `127.0.0.1:8080`, `localhost:0`, `[::1]:8080`.
 * @param setting whose text it is
 * @throws NodeError `bad_setting`.
 */
export function parseListenAddress(text: string, setting = 'listen'): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new NodeError(
      'bad_setting',
      `${setting}: ${JSON.stringify(text)} is no HOST:PORT (for example 127.0.0.1:8080, [::1]:8080, 127.0.0.1:0)`,
      { exitCode: 2 },
    );
  }
  return { host: match[1] ?? match[2]!, port };
}

/** What to say when an address cannot be listened on. */
export function listenFailure({ host, port }: ListenAddress, cause: unknown): NodeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NodeError('listen_failed', `cannot listen on ${host}:${port}: ${reason}`, { cause });
}

/** The URL of the interface at a bound address: `http://127.0.0.1:8080/v1`. */
export function interfaceUrl(host: string, port: number): string {
  const shown = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}/v1`;
}
