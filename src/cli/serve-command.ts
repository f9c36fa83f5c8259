/** `daybook serve`: answers over HTTP from the ledger in a folder until it is told to stop. */
import type { Command } from 'commander';
import { nodeSettings, settingFlags } from '../node/settings.ts';
import { stopSignal } from '../node/stop-signal.ts';
import type { CommandContext } from './main.ts';

/** Adds the command to the program, with a flag for every setting. */
export function addServeCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('serve', { isDefault: false })
    .description('Answer over HTTP from the ledger in a folder.')
    .option('--config <file>', 'YAML or JSON file of settings (env: DAYBOOK_CONFIG)');
  for (const { flag, help } of settingFlags()) command.option(`${flag} <value>`, help);
  command.action(async ({ config, ...flags }: Record<string, unknown> & { config?: string }) => {
    const settings = await nodeSettings({
      flags,
      environment: process.env,
      configFile: config ?? process.env['DAYBOOK_CONFIG'],
    });
    // Before the start: a signal that comes while the ledger opens must end in a clean stop too.
    const stopped = stopSignal();
    // Loaded here: the other commands need no HTTP server.
    const { startNode } = await import('../node/start-node.ts');
    const node = await startNode(settings);
    process.stdout.write(`${JSON.stringify(node.ready)}\n`);
    node.logger.info({ signal: await stopped }, 'stopping');
    await node.stop();
    context.setExitCode(0);
  });
}
