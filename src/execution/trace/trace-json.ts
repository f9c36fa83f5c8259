/** A whole trace as JSON: calls, costs and results (docs/traces.md). */
import { formatHex } from '../../move/bcs/hex.ts';
import type { HashedStateKey } from '../../move/types/state-key.ts';
import { hashedStateKey } from '../../move/types/state-key.ts';
import { formatTypeTag } from '../../move/types/type-tag.ts';
import type { StateEntry } from '../../store/columns/state-column.ts';
import type { YieldBudget } from '../../yield-budget.ts';
import type { TransactionOutput } from '../execute.ts';
import type { CallRecorder } from './call-recorder.ts';
import { CallsJson, Pieces } from './calls-json.ts';
import { gasByFunction } from './gas-by-function.ts';
import { type CodeOf, member, TraceValues } from './trace-values.ts';
import { writeJson } from './writes-json.ts';

export interface TracedRun {
  readonly recorder: CallRecorder;
  /** The version of the transaction, if it has one, otherwise of the state. */
  readonly version: bigint;
  /** Its name in the API. */
  readonly type: string;
  readonly hash?: Buffer | undefined;
  readonly isSuccess: boolean;
  readonly statusText: string;
  /** Whether the result equals what the ledger has; absent if no ledger has it. */
  readonly isRecorded?: boolean | undefined;
  /** Gas units; absent if nothing is charged. */
  readonly gasUsed: bigint | undefined;
  readonly writes: TransactionOutput['writes'];
  readonly events: TransactionOutput['events'];
}

interface TracePlace {
  readonly pace: YieldBudget;
  /** Modules after the run. */
  readonly modules: CodeOf;
  /** The value of a key before the run. */
  before(key: HashedStateKey): Promise<StateEntry | undefined>;
}

/** The text in pieces. */
export async function traceJson(run: TracedRun, place: TracePlace): Promise<readonly Buffer[]> {
  const { recorder, writes, events } = run;
  const { pace, modules } = place;
  const to = new Pieces(pace);
  const values = new TraceValues();
  const calls = new CallsJson(values, pace);
  await to.add(`${headJson(run)},"parts":`);
  await calls.write(recorder.parts, to);
  await to.add(',"writes":[');
  let before = '';
  for (const write of writes) {
    const entry = await place.before(hashedStateKey(write.key));
    const { tables } = recorder;
    for (const json of await writeJson(write, entry, { values, tables, modules })) {
      await to.add(before + json);
      before = ',';
    }
  }
  await to.add('],"events":[');
  before = '';
  for (const { typeTag, data } of events) {
    const json = member('data', await values.storedJson(data, typeTag, modules));
    await to.add(`${before}{"type":${JSON.stringify(formatTypeTag(typeTag))}${json}}`);
    before = ',';
  }
  const functions = await gasByFunction(recorder.parts, pace);
  const rest = { functions, instructions: recorder.instructions(), omitted: recorder.omitted };
  await to.add(`],${JSON.stringify(rest).slice(1)}`);
  return to.end();
}

/** The start of the object, without its closing brace. */
function headJson({ recorder, version, hash, ...run }: TracedRun): string {
  const { totals, scale } = recorder.charged;
  const { execution, io, storage, storageFeeOctas } = totals;
  const facts = {
    version: String(version),
    ...(hash !== undefined && { hash: formatHex(hash) }),
    ...{ type: run.type, success: run.isSuccess, vm_status: run.statusText },
    ...(run.isRecorded !== undefined && { is_recorded: run.isRecorded }),
    gas: {
      ...(run.gasUsed !== undefined && { used: String(run.gasUsed) }),
      ...{ unit: scale, execution, io, storage, storage_fee_octas: String(storageFeeOctas) },
    },
  };
  return JSON.stringify(facts).slice(0, -1);
}
