/** `daybook serve`: answers over HTTP from the ledger in a folder until a signal stops it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Help, Option } from 'commander';
import { FIRST_GROUP, settingFlags } from '../settings/settings.ts';
import { stopSignal } from '../shutdown.ts';
import { collected, describe, settingsOf } from './command-line.ts';

/** Time for a start to finish after a signal, in milliseconds, so that the node can stop cleanly. */
const START_GRACE_MS = 2_000;
/** Time to end, on top of the time that requests get, in milliseconds. */
const STOP_GRACE_MS = 1_500;

interface ServeFlags extends Record<string, unknown> {
  readonly config?: string;
  readonly keep?: string;
  readonly keepAccount?: readonly string[];
}

/** Flags by setting; a short form counts as its setting. */
function withShortForms({ keep, keepAccount, ...flags }: ServeFlags): Record<string, unknown> {
  const lists = [flags['keepAccounts'], ...(keepAccount ?? [])].filter((one) => one !== undefined);
  return {
    ...flags,
    keepVersions: flags['keepVersions'] ?? keep,
    keepAccounts: lists.length === 0 ? undefined : lists.join(','),
  };
}

export function define(command: Command): void {
  describe(command, {
    about:
      'Prints one line of JSON when it answers; logs go to stderr. A flag overrides its environment ' +
      'variable, which overrides the config file.',
    examples: [
      'serve',
      'serve --data ./mainnet --header-prefix X-Aptos --follow https://node.example/v1',
      'serve --config /etc/daybook.yaml',
    ],
  }).option('--config <file>', 'YAML or JSON file of settings (env DAYBOOK_CONFIG)');
  const all = new Option('--help-all', 'show the options of all settings');
  const isAll = () => command.opts()['helpAll'] === true;
  for (const { flag, help, group } of settingFlags()) {
    command.addOption(new Option(flag, help).helpGroup(group));
  }
  command
    .option('--keep <versions>', 'short for --keep-versions')
    .option(
      '--keep-account <address>',
      'retain the whole history of this account from now on; may be given again',
      collected,
    )
    .addOption(all)
    .on('option:help-all', () => command.help())
    .configureHelp({
      visibleOptions: (shown) =>
        new Help()
          .visibleOptions(shown)
          .filter(
            ({ helpGroupHeading: group }) => isAll() || [undefined, FIRST_GROUP].includes(group),
          ),
    });
  command.action(async ({ config, ...given }: ServeFlags) => {
    const settings = await settingsOf(withShortForms(given), config);
    // Before the start: a signal that arrives while the ledger opens must also stop cleanly.
    const stopped = stopSignal();
    const started = new AbortController();
    const { startNode } = await import('../serve/start-node.ts');
    const node = await Promise.race([
      startNode(settings),
      stopped.then(() => sleep(START_GRACE_MS, undefined, { signal: started.signal })),
    ]);
    // A later stop need not wait.
    started.abort();
    // It may wait for an upstream forever. No request was answered yet, and commits are safe.
    if (node === undefined) process.exit(0);
    process.stdout.write(`${JSON.stringify(node.ready)}\n`);
    let exitCode = 1;
    try {
      node.logger.info({ signal: await Promise.race([stopped, node.failed]) }, 'stopping');
      exitCode = 0;
    } finally {
      // Every acknowledged commit is on disk, so pending work can be abandoned.
      const endNow = () => process.exit(process.exitCode ?? exitCode);
      setTimeout(endNow, settings.shutdownTimeoutMs + STOP_GRACE_MS).unref();
      await node.stop();
    }
  });
}
