/** A list of an account's transactions while pruning deletes some of them. */

import { expect, it } from 'vitest';
import { History } from '../../src/ledger/history.ts';
import type { TransactionRenderer } from '../../src/ledger/transactions/renderer.ts';
import { LedgerError, versionPruned } from '../../src/state/ledger-error.ts';
import type { PruningGuard } from '../../src/state/pruning-guard.ts';
import type { LedgerSource } from '../../src/state/source.ts';

/** A history whose transactions render as their version, or fail. */
function historyOf(failures: Readonly<Record<number, Error>>, isLater: boolean): History {
  const renderer = {
    render(item: Buffer) {
      const failure = failures[item[0]!];
      const rendered = { json: Buffer.from(String(item[0])), tagCore: '', isFinal: true };
      if (isLater) return failure ? Promise.reject(failure) : Promise.resolve(rendered);
      if (failure) throw failure;
      return rendered;
    },
  };
  return new History(
    {} as LedgerSource,
    true,
    {} as PruningGuard,
    renderer as unknown as TransactionRenderer,
  );
}

const items = [1, 2, 3, 4].map((version) => Buffer.of(version));

it.each([false, true])('leaves out what is gone before its turn (later: %s)', async (isLater) => {
  const history = historyOf({ 1: versionPruned(1n), 3: versionPruned(3n) }, isLater);
  const pieces = await history.renderedArray(items);
  expect(Buffer.concat(pieces).toString()).toBe('[2,4]');
});

it.each([false, true])('leaves out nothing that is damaged (later: %s)', async (isLater) => {
  const damaged = new LedgerError('internal_error', 'damaged');
  const history = historyOf({ 2: damaged }, isLater);
  await expect(async () => history.renderedArray(items)).rejects.toBe(damaged);
});
