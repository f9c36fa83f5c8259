/** `daybook view`: calls a view function of a ledger on disk, without a server. */

import { findFunction, parametersOf } from '../ledger/encode/entry-function.ts';
import { EncodeError, parseRequestText } from '../ledger/encode/index.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { LedgerView } from '../ledger/ledger-view.ts';
import { openLedger } from '../ledger/open.ts';
import { ViewError } from '../ledger/views/view-error.ts';
import { readViewRequest, type ViewRequest } from '../ledger/views/view-request.ts';
import type { MoveType } from '../move/types/move-type.ts';
import { NodeError } from './node-error.ts';
import { withReader } from './open-store.ts';

interface CommandCall {
  /** `ADDRESS::MODULE::NAME`. */
  readonly function: string;
  readonly typeArguments: readonly string[];
  /** As a command line has them: JSON, or a text without quotes. */
  readonly args: readonly string[];
  /** Absent: the newest. */
  readonly version: bigint | undefined;
}

interface ViewReport extends Readonly<Record<string, unknown>> {
  readonly ledger_version: string;
  /** In the form of the API. */
  readonly values: readonly unknown[];
}

/**
 * The values that a view function returns.
 * @throws NodeError `bad_input` with the text that a client gets over HTTP; `no_ledger`, `data_not_usable`
 */
export function callViewFunction(data: string, call: CommandCall): Promise<ViewReport> {
  return withReader(data, async (store) => {
    try {
      const view = await openLedger(store).view();
      const version = view.resolveVersion(call.version);
      const request = await requestOf(call, view);
      const json = await (await view.callView(request, version)).json();
      const text = typeof json === 'string' ? json : Buffer.concat(json).toString();
      return { ledger_version: String(version), values: JSON.parse(text) as unknown[] };
    } catch (cause) {
      throw nodeErrorOf(cause);
    }
  });
}

async function requestOf(
  { function: name, typeArguments, args }: CommandCall,
  { lookupModule }: LedgerView,
): Promise<ViewRequest> {
  const bodyOf = (list: readonly string[]): ViewRequest => {
    const types = JSON.stringify(typeArguments);
    const text =
      `{"function":${JSON.stringify(name)},"type_arguments":${types},` +
      `"arguments":[${list.join(',')}]}`;
    return readViewRequest(parseRequestText(Buffer.from(text)));
  };
  const { id, typeArguments: types } = bodyOf([]);
  const plan = await findFunction(id, lookupModule, 'view');
  const parameters = 'missing' in plan ? [] : parametersOf(plan, types);
  return bodyOf(args.map((text, index) => argumentText(text, parameters[index]?.type)));
}

/** Types whose JSON is not a text. */
const PLAIN_KINDS: ReadonlySet<MoveType['kind']> = new Set([
  'bool',
  ...(['u8', 'u16', 'u32', 'i8', 'i16', 'i32'] as const),
]);

/** The JSON of an argument. */
function argumentText(text: string, type: MoveType | undefined): string {
  try {
    const value: unknown = JSON.parse(text);
    const isCompound = typeof value === 'object' || typeof value === 'string';
    if (isCompound || (type !== undefined && PLAIN_KINDS.has(type.kind))) return text;
  } catch {
    // A text without quotes.
  }
  return JSON.stringify(text);
}

function nodeErrorOf(cause: unknown): unknown {
  if (cause instanceof ViewError || cause instanceof EncodeError) {
    return new NodeError('bad_input', cause.message, { cause });
  }
  if (!(cause instanceof LedgerError)) return cause;
  switch (cause.code) {
    case 'ledger_unavailable':
      return new NodeError('no_ledger', cause.message, { cause });
    case 'version_not_found':
    case 'version_pruned':
      return new NodeError('bad_input', cause.message, { cause });
    default:
      return new NodeError('data_not_usable', cause.message, { cause });
  }
}
