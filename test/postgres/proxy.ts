/** A proxy to a server that can drop everything sent, like a broken network: neither end is told. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class SwallowingProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isSwallowing = false;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      const server = connect(targetPort, '127.0.0.1');
      const pair = [client, server] as const;
      this.#pairs.add(pair);
      for (const [from, to] of [pair, pair.toReversed() as [Socket, Socket]]) {
        from.on('error', () => to.destroy());
        from.on('close', () => {
          this.#pairs.delete(pair);
          to.destroy();
        });
      }
      if (this.#isSwallowing) swallow(pair);
      else client.pipe(server).pipe(client);
    });
  }

  static async to(targetPort: number): Promise<SwallowingProxy> {
    const proxy = new SwallowingProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Drops everything from now on, until `restore`. */
  swallow(): void {
    this.#isSwallowing = true;
    for (const pair of this.#pairs) swallow(pair);
  }

  /** New connections work again; existing ones never do. */
  restore(): void {
    this.#isSwallowing = false;
  }

  close(): void {
    this.#server.close();
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }
}

function swallow(pair: readonly [Socket, Socket]): void {
  for (const socket of pair) socket.unpipe().resume();
}
