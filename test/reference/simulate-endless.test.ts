/** An endless simulation, whose client does not wait for it. */
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { longRunCount } from '../../src/vm/machine/run.ts';
import { serveReferenceChain } from './reference-chain.ts';
import { findAccounts, rawBytes, rawOf } from './simulation-requests.ts';

/** A script that is a jump to itself. */
const CODE = Buffer.from('a11ceb0b060000000105000100000000010500', 'hex');
const NO_KEY = Buffer.of(4, 4);
/** It would take some two hundred turns. */
const FEW_TURNS = 50;

it('ends with its client', async () => {
  const ledger = await serveReferenceChain();
  const [sender] = await findAccounts(ledger.api);
  const payload = { kind: 'script', code: CODE, typeArguments: [], args: [] } as const;
  const body = Buffer.concat([rawBytes(rawOf(sender!, { payload })), NO_KEY]);
  const socket = connect(await ledger.api.port(), '127.0.0.1');
  socket.write(
    'POST /v1/transactions/simulate HTTP/1.1\r\nHost: x\r\n' +
      'Content-Type: application/x.aptos.signed_transaction+bcs\r\n' +
      `Content-Length: ${body.length}\r\n\r\n`,
  );
  socket.write(body);
  while (longRunCount() === 0) await nextTurn();
  socket.destroy();
  for (let turns = 0; longRunCount() > 0 && turns < FEW_TURNS; turns += 1) await nextTurn();
  expect(longRunCount()).toBe(0);
  expect(ledger.log.errors).toEqual([]);
  await ledger.close();
});
