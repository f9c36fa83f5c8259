/** A PostgreSQL server that accepts connections and never responds. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/indexer/database/database.ts';

it('is given up', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(openDatabase(`postgres://127.0.0.1:${port}/tables`)).rejects.toThrow('timeout');
  expect(sockets.length).toBe(1);
  for (const socket of sockets) socket.destroy();
  server.close();
});
