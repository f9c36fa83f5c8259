/** `daybook trace`: what a transaction of a ledger on disk, or of another node, did (docs/traces.md). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { comparedGas } from '../../../execution/trace/compared-gas.ts';
import { collapsedStacks, flameGraph } from '../../../execution/trace/flame-graph.ts';
import type { Trace } from '../../../execution/trace/trace-shape.ts';
import type { LedgerView } from '../../../ledger/ledger-view.ts';
import { newCaches, openLedger } from '../../../ledger/open.ts';
import { YieldBudget } from '../../../yield-budget.ts';
import { openForkStore } from '../../fork-store.ts';
import { createLogger } from '../../log.ts';
import { nodeSettingsWith } from '../../settings/settings.ts';
import { StopList } from '../../shutdown.ts';
import {
  addReport,
  addSettingOption,
  describe,
  type Report,
  wholeNumber,
} from '../command-line.ts';
import { answerOf, withLedgerView } from '../ledger-question.ts';
import { comparedGasText } from './compared-gas-text.ts';
import { DEFAULT_DEPTH, traceText } from './trace-text.ts';

interface TraceFlags {
  readonly data?: string;
  readonly fork?: string;
  readonly compare?: TransactionName;
  readonly depth: number;
  readonly folded?: string;
  readonly flame?: string;
}

/** A version, or a hash of 32 bytes. */
type TransactionName = bigint | Buffer;

const MAX_DEPTH = 1_024;

export function define(command: Command): void {
  describe(command, {
    about:
      'The transaction is run again on the state before it. With --fork the ledger is that of another node, of which ' +
      'only what the transaction reads is asked; --data then is a folder that keeps it.',
    examples: [
      'trace 1000',
      'trace 0x2c52…9478ec --fork https://node.example/v1',
      'trace 1000 --flame gas.svg --folded gas.txt',
      'trace 1000 --compare 1001',
    ],
  })
    .argument('<transaction>', 'its hash or its version', transactionName)
    .option('--fork <url>', 'trace a transaction of the node at this URL')
    .option('--compare <transaction>', 'compare its gas with that of this one', transactionName)
    .option(
      '--depth <n>',
      'levels of calls that are shown',
      wholeNumber(1, MAX_DEPTH),
      DEFAULT_DEPTH,
    )
    .option('--folded <file>', 'write its gas as collapsed stacks, for other tools')
    .option('--flame <file>', 'write its gas as a flame graph, in SVG');
  addSettingOption(command, 'data');
  addReport<TraceFlags>(command, async (flags, { data }) => {
    const [asked] = command.processedArgs as [TransactionName];
    const report = (view: LedgerView) => reportOf(view, asked, flags);
    if (flags.fork === undefined) return await withLedgerView(data, report);
    return await withForkedView(flags.fork, flags.data, report);
  });
}

async function reportOf(
  view: LedgerView,
  asked: TransactionName,
  flags: TraceFlags,
): Promise<Report> {
  const traced = async (name: TransactionName) => {
    const pieces = await view.traces.transaction(name, new YieldBudget());
    return JSON.parse(Buffer.concat(pieces).toString()) as Trace;
  };
  const trace = await traced(asked);
  const { folded, flame, compare, depth } = flags;
  if (folded !== undefined) writeFileSync(folded, collapsedStacks(trace));
  if (flame !== undefined) {
    writeFileSync(flame, flameGraph(trace, `Gas of ${trace.type} ${trace.version}`));
  }
  if (compare !== undefined) {
    const other = await traced(compare);
    const functions = comparedGas(trace, other);
    return {
      facts: { functions, gas: [trace.gas, other.gas] },
      text: comparedGasText(trace, other),
    };
  }
  const hasColours = process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined;
  return { facts: { ...trace }, text: traceText(trace, { hasColours, depth }) };
}

/** @param data where what is asked is kept; absent: nowhere */
async function withForkedView<T>(
  fork: string,
  data: string | undefined,
  answer: (view: LedgerView) => Promise<T>,
): Promise<T> {
  const stopList = new StopList();
  try {
    const settings = await nodeSettingsWith({ data: data ?? temporaryFolder(stopList), fork });
    const logger = createLogger('warn');
    const { store, openSource } = await openForkStore(settings, stopList, logger);
    const view = await openLedger(store, newCaches(), openSource).view();
    return await answerOf(() => answer(view));
  } finally {
    await stopList.stop();
  }
}

function temporaryFolder(stopList: StopList): string {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-trace-'));
  stopList.add('the temporary folder', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'fork');
}

function transactionName(text: string): TransactionName {
  if (/^\d{1,20}$/.test(text)) return BigInt(text);
  if (/^(?:0x)?[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text.slice(-64), 'hex');
  throw new InvalidArgumentError('expected a version, or a hash: 32 bytes in hex');
}
