/** Commands that ask a ledger on disk what an API would answer, without a server. */
import type { Command } from 'commander';
import { ViewError } from '../../execution/view-error.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { openLedger } from '../../ledger/open.ts';
import { LedgerError, type LedgerErrorCode } from '../../state/ledger-error.ts';
import { DecodeError } from '../../submission/decode/index.ts';
import { EncodeError } from '../../submission/encode/index.ts';
import { NodeError, type NodeErrorCode } from '../node-error.ts';
import { withReader } from '../open-store.ts';
import { readInput } from '../settings/input.ts';
import { addReport, addSettingOption, type Report } from './command-line.ts';

export function addSubmissionReport(
  command: Command,
  answer: (input: Buffer, view: LedgerView) => Promise<Report>,
): void {
  addSettingOption(command, 'data');
  addReport(command, async (_flags, { data }) => {
    const input = await readInput(process.stdin);
    return await withLedgerView(data, (view) => answer(input, view));
  });
}

const CODES: Partial<Record<LedgerErrorCode, NodeErrorCode>> = {
  ledger_unavailable: 'no_ledger',
  version_not_found: 'bad_input',
  version_pruned: 'bad_input',
  transaction_not_found: 'bad_input',
  transactions_not_kept: 'bad_input',
};

/** @throws NodeError `bad_input` with the text that a client gets over HTTP; `no_ledger`, `data_not_usable` */
export function withLedgerView<T>(
  data: string,
  answer: (view: LedgerView) => Promise<T>,
): Promise<T> {
  return withReader(data, (store) => answerOf(async () => answer(await openLedger(store).view())));
}

/** @throws NodeError as withLedgerView does */
export async function answerOf<T>(answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (cause) {
    if (cause instanceof LedgerError) {
      throw new NodeError(CODES[cause.code] ?? 'data_not_usable', cause.message, { cause });
    }
    const isInput = [EncodeError, DecodeError, ViewError].some((kind) => cause instanceof kind);
    if (!isInput) throw cause;
    throw new NodeError('bad_input', (cause as Error).message, { cause });
  }
}
