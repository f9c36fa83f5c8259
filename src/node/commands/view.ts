/** `daybook view`: calls a view function of a ledger on disk, without a server. */
import type { Command } from 'commander';
import { readViewRequest, type ViewRequest } from '../../execution/view-request.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { findFunction, parametersOf } from '../../submission/encode/entry-function.ts';
import { parseRequestText } from '../../submission/encode/index.ts';
import { addReport, addSettingOption, collected, describe, jsonText, u64 } from './command-line.ts';
import { withLedgerView } from './ledger-question.ts';

interface ViewFlags {
  readonly typeArgs?: readonly string[];
  readonly version?: bigint;
}

export function define(command: Command): void {
  describe(command, {
    about: 'It works while a node serves the ledger. No server is needed.',
    examples: [
      'view 0x1::chain_id::get',
      'view 0x1::coin::balance 0x1 --type-args 0x1::aptos_coin::AptosCoin --version 1000',
    ],
  })
    .argument('<function>', 'ADDRESS::MODULE::NAME')
    .argument('[args...]', 'its arguments: JSON, or texts without quotes')
    .option('--type-args <type>', 'a type argument; may be given several times', collected)
    .option('--version <number>', 'version of the state; default: the newest', u64('a version'));
  addSettingOption(command, 'data');
  addReport<ViewFlags>(command, async ({ typeArgs = [], version }, { data }) => {
    const [name, ...args] = command.args;
    return await withLedgerView(data, async (view) => {
      const at = view.resolveVersion(version);
      const request = await requestOf(name!, typeArgs, args, view);
      const json = await (await view.callView(request, at)).json();
      const text = typeof json === 'string' ? json : Buffer.concat(json).toString();
      const values = JSON.parse(text) as unknown[];
      return {
        facts: { ledger_version: at, values },
        text: values.map((value) => `${jsonText(value)}\n`).join(''),
      };
    });
  });
}

/**
 * @param name `ADDRESS::MODULE::NAME`
 * @param args each is JSON, or a text without quotes
 */
async function requestOf(
  name: string,
  typeArguments: readonly string[],
  args: readonly string[],
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

const PLAIN_KINDS: ReadonlySet<MoveType['kind']> = new Set([
  'bool',
  ...(['u8', 'u16', 'u32', 'i8', 'i16', 'i32'] as const),
]);

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
