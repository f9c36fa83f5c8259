/** `daybook trace`: what a transaction of a ledger on disk, or of another node, did (docs/traces.md). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { comparedGas } from '../../../execution/trace/compared-gas.ts';
import { collapsedStacks, flameGraph } from '../../../execution/trace/flame-graph.ts';
import type { Trace } from '../../../execution/trace/trace-shape.ts';
import type { LedgerView } from '../../../ledger/ledger-view.ts';
import { newCaches, openLedger } from '../../../ledger/open.ts';
import type { MaybePromise } from '../../../maybe-promise.ts';
import type { Overlay } from '../../../state/overlay.ts';
import { overlaidSource } from '../../../state/overlay-source.ts';
import { type OpenSource, storedSource } from '../../../state/source.ts';
import type { StoreReader } from '../../../store/store.ts';
import { YieldBudget } from '../../../yield-budget.ts';
import { openForkStore } from '../../fork-store.ts';
import { createLogger } from '../../log.ts';
import { withReader } from '../../open-store.ts';
import { nodeSettingsWith } from '../../settings/settings.ts';
import { StopList } from '../../shutdown.ts';
import {
  addReport,
  addSettingOption,
  collected,
  describe,
  type Report,
  wholeNumber,
} from '../command-line.ts';
import { answerOf } from '../ledger-question.ts';
import { comparedGasText } from './compared-gas-text.ts';
import { overlayOfModules } from './module-files.ts';
import { DEFAULT_DEPTH, traceText } from './trace-text.ts';

interface TraceFlags {
  readonly data?: string;
  readonly fork?: string;
  readonly compare?: TransactionName;
  readonly module?: readonly string[];
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
      'trace 1000 --module build/app/bytecode_modules/vault.mv',
    ],
  })
    .argument('<transaction>', 'its hash or its version', transactionName)
    .option('--fork <url>', 'trace a transaction of the node at this URL')
    .option('--compare <transaction>', 'compare its gas with that of this one', transactionName)
    .addOption(
      new Option(
        '--module <file>',
        'compare its gas with what it would be with this compiled module in place of the stored one (repeatable)',
      )
        .argParser(collected)
        .conflicts('compare'),
    )
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
    const overlay = overlayOfModules(flags.module ?? []);
    const report = (openView: OpenView) =>
      answerOf(() => reportOf(openView, asked, flags, overlay));
    if (flags.fork !== undefined) return await withFork(flags.fork, flags.data, report);
    return await withReader(data, (store) => report(opening(store, storedSource)));
  });
}

/** Opens the ledger as it is, or with an overlay above its state. */
type OpenView = (overlay?: Overlay) => MaybePromise<LedgerView>;

function opening(store: StoreReader, openSource: OpenSource): OpenView {
  return (overlay) => {
    const open: OpenSource = (of, head) =>
      overlay === undefined ? openSource(of, head) : overlaidSource(openSource(of, head), overlay);
    return openLedger(store, newCaches(), open).view();
  };
}

async function reportOf(
  openView: OpenView,
  asked: TransactionName,
  flags: TraceFlags,
  overlay: Overlay | undefined,
): Promise<Report> {
  const view = await openView();
  const traced = async (name: TransactionName, { traces } = view) => {
    const pieces = await traces.transaction(name, new YieldBudget());
    return JSON.parse(Buffer.concat(pieces).toString()) as Trace;
  };
  const trace = await traced(asked);
  const { folded, flame, compare, depth } = flags;
  if (folded !== undefined) writeFileSync(folded, collapsedStacks(trace));
  if (flame !== undefined) {
    writeFileSync(flame, flameGraph(trace, `Gas of ${trace.type} ${trace.version}`));
  }
  let other: Trace | undefined;
  if (overlay !== undefined) other = await traced(asked, await openView(overlay));
  else if (compare !== undefined) other = await traced(compare);
  if (other !== undefined) {
    const functions = comparedGas(trace, other);
    return {
      facts: { functions, gas: [trace.gas, other.gas] },
      text: comparedGasText(trace, other),
    };
  }
  const hasColours = process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined;
  return { facts: { ...trace }, text: traceText(trace, { hasColours, depth }) };
}

/** @param data folder that records what was fetched; absent: nothing is recorded */
async function withFork<T>(
  fork: string,
  data: string | undefined,
  answer: (openView: OpenView) => Promise<T>,
): Promise<T> {
  const stopList = new StopList();
  try {
    const settings = await nodeSettingsWith({ data: data ?? temporaryFolder(stopList), fork });
    const logger = createLogger('warn');
    const { store, openSource } = await openForkStore(settings, stopList, logger);
    return await answer(opening(store, openSource ?? storedSource));
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
