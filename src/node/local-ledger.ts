/** A file beside the ledger of a local network says what it is, so that no other ledger is written by mistake. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MARK = 'localnet';

export function markLocalLedger(data: string): void {
  writeFileSync(join(data, MARK), '');
}

export function isLocalLedger(data: string): boolean {
  return existsSync(join(data, MARK));
}
