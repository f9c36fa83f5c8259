/** `daybook serve`: answers over HTTP from the ledger in a folder until it is told to stop. */
import { type Command, Option } from 'commander';
import type { TSchema } from 'typebox';
import { allowedText, environmentName, fileName } from '../node/setting-sources.ts';
import { NodeSettingsSchema, nodeSettings } from '../node/settings.ts';
import { startNode } from '../node/start-node.ts';
import { stopSignal } from '../node/stop-signal.ts';
import type { CommandContext } from './main.ts';

/** Adds the command to the program, with a flag for every setting. */
export function addServeCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('serve', { isDefault: false })
    .description('Answer over HTTP from the ledger in a folder.')
    .option('--config <file>', 'YAML or JSON file of settings (env: DAYBOOK_CONFIG)');
  for (const [name, property] of Object.entries(NodeSettingsSchema.properties)) {
    command.addOption(settingOption(name, property));
  }
  command.action(async ({ config, ...flags }: Record<string, unknown> & { config?: string }) => {
    const settings = nodeSettings({
      flags,
      environment: process.env,
      configFile: config ?? process.env['DAYBOOK_CONFIG'],
    });
    // Before the start: a signal that comes while the ledger opens must end in a clean stop too.
    const stopped = stopSignal();
    const node = await startNode(settings);
    process.stdout.write(`${JSON.stringify(node.ready)}\n`);
    node.logger.info({ signal: await stopped }, 'stopping');
    await node.stop();
    context.setExitCode(0);
  });
}

function settingOption(name: string, property: TSchema): Option {
  const { description, default: defaultValue } = property as {
    description?: string;
    default?: unknown;
  };
  const facts = `${allowedText(property)}; default ${JSON.stringify(defaultValue)}; env ${environmentName(name)}`;
  const flag = `--${fileName(name).replaceAll('_', '-')} <value>`;
  return new Option(flag, `${description} (${facts})`);
}
