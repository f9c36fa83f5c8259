/**
 * Reads settings from their sources: flag > environment > config file > default. One table has the name, type, limits,
 * default and description of every setting; names are camelCase in code and on the command line's flags, snake_case in
 * files, and `DAYBOOK_` + capitals in the environment.
 */
import type { Setting, SettingTable } from '../../api/settings.ts';
import { NodeError } from '../node-error.ts';
import { readInputFile } from './input.ts';

/** Prefix of every environment variable. */
export const ENVIRONMENT_PREFIX = 'DAYBOOK_';
/** Largest config file read, in bytes. */
export const MAX_CONFIG_FILE_BYTES = 1024 * 1024;

/** `jsonOutputEnabled` → `json_output_enabled`: the name in config files. */
export function fileName(setting: string): string {
  return setting.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `jsonOutputEnabled` → `DAYBOOK_JSON_OUTPUT_ENABLED`. */
export function environmentName(setting: string): string {
  return ENVIRONMENT_PREFIX + fileName(setting).toUpperCase();
}

export interface SettingSources {
  /** What the command line gave, by setting name; absent flags are `undefined`. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path of a YAML or JSON file. */
  readonly configFile?: string | undefined;
}

/** Turns the text of a flag or variable into the setting's type; leaves what does not fit for the check. */
function fromText({ type }: Setting, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' && /^-?\d+$/.test(text.trim())) return Number(text);
  if (type === 'boolean' && /^(?:true|1|yes|on)$/i.test(text.trim())) return true;
  if (type === 'boolean' && /^(?:false|0|no|off)$/i.test(text.trim())) return false;
  return text;
}

async function readConfigFile(path: string): Promise<Map<string, unknown>> {
  // Loaded when there is a file: most starts have none.
  const { parse: parseYaml } = await import('yaml');
  const text = readInputFile(path, 'config file', MAX_CONFIG_FILE_BYTES).toString('utf8');
  let content: unknown;
  try {
    // Its warnings would be lines on stderr of their own.
    content = parseYaml(text, { logLevel: 'error' }) ?? {};
  } catch (cause) {
    const [line] = reason(cause).split('\n');
    throw new NodeError('bad_config_file', `config file ${path}: ${line}`, { cause });
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new NodeError('bad_config_file', `config file ${path} must hold a mapping of settings`);
  }
  return new Map(Object.entries(content));
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * All settings of a table, each from its strongest source, checked.
 * @throws NodeError `bad_setting` naming setting, source and what is allowed; `bad_config_file`, `file_not_readable`.
 */
export async function loadSettings(
  table: SettingTable,
  sources: SettingSources,
): Promise<Record<string, unknown>> {
  const file =
    sources.configFile === undefined ? new Map() : await readConfigFile(sources.configFile);
  const known = new Set(Object.keys(table).map(fileName));
  for (const name of file.keys()) {
    if (!known.has(name)) {
      throw new NodeError(
        'bad_config_file',
        `config file ${sources.configFile}: there is no setting ${JSON.stringify(name)}; ` +
          'see daybook serve --help for all',
      );
    }
  }
  const settings: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) {
    const [value, source] = strongest(name, setting, sources, file);
    checkSetting(name, setting, value, source);
    settings[name] = value;
  }
  return settings;
}

function strongest(
  name: string,
  setting: Setting,
  sources: SettingSources,
  file: ReadonlyMap<string, unknown>,
): [value: unknown, source: string] {
  const flag = sources.flags[name];
  if (flag !== undefined) {
    return [fromText(setting, flag), `flag --${fileName(name).replaceAll('_', '-')}`];
  }
  const variable = sources.environment[environmentName(name)];
  if (variable !== undefined) {
    return [fromText(setting, variable), `environment variable ${environmentName(name)}`];
  }
  if (file.has(fileName(name))) return [file.get(fileName(name)), `config file, ${fileName(name)}`];
  return [setting.default, 'default'];
}

function checkSetting(name: string, setting: Setting, value: unknown, source: string): void {
  if (isAllowed(setting, value)) return;
  throw new NodeError(
    'bad_setting',
    `${source}: ${JSON.stringify(value)} is no valid ${name}: ${allowedText(setting)}`,
    { exitCode: source.startsWith('flag') ? 2 : 1 },
  );
}

const CHECKS_OF_TYPE: Readonly<Record<Setting['type'], (value: unknown) => boolean>> = {
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isSafeInteger(value),
  string: (value) => typeof value === 'string',
};

/** Whether a value has the type of a setting and is within its limits. */
export function isAllowed(setting: Setting, value: unknown): boolean {
  if (!CHECKS_OF_TYPE[setting.type](value)) return false;
  if (typeof value === 'number') {
    return value >= (setting.minimum ?? -Infinity) && value <= (setting.maximum ?? Infinity);
  }
  if (typeof value !== 'string') return true;
  return (
    (setting.enum === undefined || setting.enum.includes(value)) &&
    value.length >= (setting.minLength ?? 0) &&
    value.length <= (setting.maxLength ?? Infinity) &&
    (setting.pattern === undefined || new RegExp(setting.pattern, 'u').test(value))
  );
}

/** What a setting may be, for people: `integer, 1 to 65535`. */
export function allowedText({ type, minimum, maximum, pattern, enum: values }: Setting): string {
  const parts: string[] = [values === undefined ? type : `one of ${values.join(', ')}`];
  if (minimum !== undefined) parts.push(`at least ${minimum}`);
  if (maximum !== undefined) parts.push(`at most ${maximum}`);
  if (pattern !== undefined) parts.push(`matching ${pattern}`);
  return parts.join(', ');
}
