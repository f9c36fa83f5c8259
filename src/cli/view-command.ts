/** `daybook view`: calls a view function of a ledger on disk, without a server. */
import type { Command } from 'commander';
import {
  addCommand,
  addReport,
  addSettingOption,
  collected,
  jsonText,
  u64,
} from './command-line.ts';

interface ViewFlags {
  readonly typeArgs?: readonly string[];
  readonly version?: bigint;
}

export function addViewCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'view',
    purpose: 'Call a view function, print the values it returns.',
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
    const { callViewFunction } = await import('../node/view.ts');
    const [name, ...args] = command.args;
    const call = { function: name!, typeArguments: typeArgs, args, version };
    const facts = await callViewFunction(data, call);
    return { facts, text: facts.values.map((value) => `${jsonText(value)}\n`).join('') };
  });
}
