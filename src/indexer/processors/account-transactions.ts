/** The transactions of an account: those that it signed, that emitted an event of it, or that wrote its state. */
import type { RowSink } from '../rows/row-buffer.ts';
import { signersOf } from './signers.ts';
import { fullAddress, OBJECT_CORE, type TransactionFacts } from './transaction-facts.ts';

export function accountTransactions(facts: TransactionFacts, rows: RowSink): void {
  const accounts = new Set<string>();
  for (const { address } of signersOf(facts)) accounts.add(address);
  // Module events belong to the account 0x0.
  for (const { guid } of facts.events) accounts.add(fullAddress(guid.account_address));
  for (const { address, type, data } of facts.writes) {
    accounts.add(address);
    if (type === OBJECT_CORE) accounts.add(fullAddress(data.owner));
  }
  for (const { address } of facts.deletions) accounts.add(address);
  for (const account of accounts) {
    rows.put('account_transactions', {
      account_address: account,
      transaction_version: facts.version,
    });
  }
}
