/** `daybook status`: what a ledger is and how much each column contains. */
import type { Command } from 'commander';
import { FORK_LAYOUT, FORK_ORIGIN } from '../../store/columns/fork-columns.ts';
import { readHead } from '../../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../store/columns/identity-column.ts';
import { openSqliteReader } from '../../store/sqlite/sqlite-store.ts';
import type { StoreReader } from '../../store/store.ts';
import { isStoreError } from '../../store/store-error.ts';
import { NodeError } from '../node-error.ts';
import { emptyStoreError, withReader } from '../open-store.ts';
import { addReport, addSettingOption, describe, factLines } from './command-line.ts';

type StatusReport = Awaited<ReturnType<typeof statusOf>>;

export function define(command: Command): void {
  describe(command, {
    about: 'It works while a node serves the ledger.',
    examples: ['status', 'status --data ./mainnet --json'],
  });
  addSettingOption(command, 'data');
  addReport(command, async (_flags, { data }) => {
    const facts = await ledgerStatus(data);
    return { facts, text: textOf(facts) };
  });
}

function textOf({ columns, ...facts }: StatusReport): string {
  const lineOf = (name: string, rows: string, bytes: string) =>
    `${name.padEnd(24)}${rows.padStart(14)}${bytes.padStart(18)}\n`;
  const lines = Object.entries(columns).map(
    ([name, { rows, rows_estimated: isEstimated, bytes }]) =>
      lineOf(name, `${isEstimated ? '~' : ''}${rows}`, String(bytes)),
  );
  return [factLines(facts), '\n', lineOf('column', 'rows', 'bytes'), ...lines].join('');
}

/** The status of a ledger or a fork; another process may write it. @throws NodeError */
export async function ledgerStatus(data: string): Promise<StatusReport> {
  try {
    return await withReader(data, (store) => statusOf(store, data));
  } catch (error) {
    if (!(error instanceof NodeError && isStoreError(error.cause, 'store_is_fork'))) throw error;
  }
  const fork = openSqliteReader({ directory: data, layout: FORK_LAYOUT });
  return await statusOf(fork, data).finally(() => fork.close());
}

async function statusOf(store: StoreReader, data: string) {
  const head = await readHead(store);
  const identity = await LEDGER_IDENTITY.get(store);
  if (head === undefined || identity === undefined) throw emptyStoreError(data);
  const origin = await FORK_ORIGIN.get(store);
  const columns = await store.statistics();
  return {
    ...(origin && { fork_of: origin.url }),
    chain_id: identity.chainId,
    ledger_version: head.version,
    oldest_ledger_version: head.oldestVersion,
    ledger_timestamp: head.timestampUsecs,
    epoch: head.epoch,
    block_height: head.blockHeight,
    oldest_block_height: head.oldestBlockHeight,
    columns: Object.fromEntries(
      columns.map(({ column, rows, isEstimated, bytes }) => [
        column.name,
        { rows, rows_estimated: isEstimated, bytes },
      ]),
    ),
  };
}
