/** Help, option values, settings and reports of all commands. */
import { type Command, InvalidArgumentError } from 'commander';
import { NodeError } from '../node-error.ts';
import { CONFIG_VARIABLE, outsideNames } from '../settings/setting-sources.ts';
import { NODE_SETTINGS, type NodeSettings, nodeSettings } from '../settings/settings.ts';
import { escapeInvisible } from '../visible-text.ts';

interface CommandHelp {
  readonly about?: string;
  readonly examples: readonly string[];
}

export function describe(command: Command, { about, examples }: CommandHelp): Command {
  const lines = examples.map((line) => `\n  daybook ${line}`).join('');
  return command
    .description([command.summary(), about].filter((part) => part !== undefined).join('\n\n'))
    .addHelpText('after', `\nExamples:${lines}`);
}

/** Adds the option of a setting that `serve` has too: same sources, same default. */
export function addSettingOption(
  command: Command,
  setting: 'data' | 'logLevel' | 'standby',
  description: string = NODE_SETTINGS[setting].description,
): Command {
  const { flag, variable } = outsideNames(setting);
  const { default: value, type } = NODE_SETTINGS[setting];
  return command.option(
    `${flag} ${type === 'boolean' ? '[value]' : '<value>'}`,
    `${description} (default ${JSON.stringify(value)}; env ${variable})`,
  );
}

/** The settings of a command: from its flags, then from the other sources. @throws NodeError */
export function settingsOf(
  flags: Readonly<Record<string, unknown>>,
  configFile?: string,
): Promise<NodeSettings> {
  const file = configFile ?? process.env[CONFIG_VARIABLE];
  return nodeSettings({ flags, environment: process.env, configFile: file });
}

/** Parses an option that is a whole number. @param max with fewer than 17 digits; absent: the largest safe integer */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const allowed =
    max === Number.MAX_SAFE_INTEGER ? `a number of at least ${min}` : `${min} to ${max}`;
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
    if (value < min || value > max) throw new InvalidArgumentError(`expected ${allowed}`);
    return value;
  };
}

/** Parses an option that is a u64. @param what the name of the value in the message */
export function u64(what: string): (text: string) => bigint {
  return (text) => {
    const value = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
    if (value < 0n || value > 0xffff_ffff_ffff_ffffn) {
      throw new InvalidArgumentError(`expected ${what}`);
    }
    return value;
  };
}

export function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export interface Report {
  /** The object that `--json` prints; a bigint becomes a string. */
  readonly facts: Facts;
  /** The report for people; absent: a line for each fact. */
  readonly text?: string;
  readonly failure?: NodeError | undefined;
}

type Facts = Readonly<Record<string, unknown>>;

/** A failure whose report is printed together with it, as one JSON object. */
export class ReportedFailure extends NodeError {
  readonly facts: Facts;

  constructor({ code, message, exitCode }: NodeError, facts: Facts) {
    super(code, message, { exitCode });
    this.facts = facts;
  }
}

/** Adds `--json` to a command, runs it with its settings, and prints its report on stdout. */
export function addReport<Flags extends object>(
  command: Command,
  run: (flags: Flags, settings: NodeSettings) => Promise<Report>,
): void {
  command.option('--json', 'print the report, or the error, as one JSON object').action(report);
  async function report(): Promise<void> {
    const flags = command.opts<Flags & Readonly<Record<string, string | undefined>>>();
    const { data, logLevel, standby, json } = flags;
    const settings = await settingsOf({ data, logLevel, standby });
    const { facts, text, failure } = await run(flags, settings);
    if (json !== undefined && failure !== undefined) throw new ReportedFailure(failure, facts);
    const readableText = text ?? factLines(facts);
    process.stdout.write(json === undefined ? readableText : `${jsonText(facts)}\n`);
    if (failure !== undefined) throw failure;
  }
}

/** Facts as lines for people. @param nameCharacters the width of the names */
export function factLines(facts: Facts, nameCharacters = 24): string {
  return Object.entries(facts)
    .map(([name, value]) => {
      const words = name.replaceAll('_', ' ');
      return `${words.padEnd(nameCharacters)}${value ?? 'none'}\n`;
    })
    .join('');
}

/** JSON for a terminal. It has line feeds only between tokens. */
export function jsonText(value: unknown, indentCharacters = 0): string {
  const plain = (_name: string, part: unknown) => (typeof part === 'bigint' ? String(part) : part);
  return escapeInvisible(JSON.stringify(value, plain, indentCharacters));
}

/** Seconds since a time of `performance.now()`, with two decimals. */
export function secondsSince(startedMs: number): number {
  return Math.round((performance.now() - startedMs) / 10) / 100;
}
