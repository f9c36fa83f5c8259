/**
 * Reads settings from their sources: flag > environment > config file > default. One table has the name, type, limits,
 * default and description of every setting; names are camelCase in code and on the command line's flags, snake_case in
 * files, and `DAYBOOK_` + capitals in the environment.
 */
import type { Setting, SettingTable } from '../../api/settings.ts';
import { NodeError, reasonOf } from '../node-error.ts';
import { readInputFile } from './input.ts';

export const CONFIG_VARIABLE = 'DAYBOOK_CONFIG';
/** Largest config file read, in bytes: the parser compares each name with all others, and 60,000 names took 20 s. */
export const MAX_CONFIG_FILE_BYTES = 64 * 1024;
/** The parser's error for lists or mappings within one another, from about 400 on. */
const TOO_DEEP_CODE = 'RESOURCE_EXHAUSTION';

/** The names of `compressionEnabled` outside the program. */
interface OutsideNames {
  /** In config files: `compression_enabled`. */
  readonly file: string;
  /** `--compression-enabled`. */
  readonly flag: string;
  /** Environment variable: `DAYBOOK_COMPRESSION_ENABLED`. */
  readonly variable: string;
}

export function outsideNames(setting: string): OutsideNames {
  const file = setting.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const flag = `--${file.replaceAll('_', '-')}`;
  return { file, flag, variable: `DAYBOOK_${file.toUpperCase()}` };
}

export interface SettingSources {
  /** Values from the command line, by setting name; absent flags are `undefined`. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly configFile?: string | undefined;
}

interface LoadedSettings {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly explicit: ReadonlySet<string>;
}

/**
 * All settings of a table, each from its strongest source, checked.
 * @throws NodeError `bad_setting` naming setting, source and what is allowed; `bad_config_file`: both with exit code 2;
 *   `file_not_readable`
 */
export async function loadSettings(
  table: SettingTable,
  { flags, environment, configFile }: SettingSources,
): Promise<LoadedSettings> {
  const inFile =
    configFile === undefined ? new Map<string, unknown>() : await readConfigFile(configFile);
  const known = new Set(Object.keys(table).map((name) => outsideNames(name).file));
  const unknown = [...inFile.keys()].find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw badConfigFile(
      `config file ${configFile}: there is no setting ${JSON.stringify(unknown)}; ` +
        `the nearest is ${nearestName(unknown, [...known])}, daybook serve --help-all shows all`,
    );
  }
  const settings: Record<string, unknown> = {};
  const explicit = new Set<string>();
  for (const [name, setting] of Object.entries(table)) {
    const { file, flag, variable } = outsideNames(name);
    let value: unknown = setting.default;
    let source = 'default';
    if (flags[name] !== undefined) {
      value = fromText(setting, flags[name]);
      source = `flag ${flag}`;
    } else if (environment[variable] !== undefined) {
      value = fromText(setting, environment[variable]);
      source = `environment variable ${variable}`;
    } else if (inFile.has(file)) {
      value = fromList(setting, inFile.get(file));
      source = `config file, ${file}`;
    }
    if (!isAllowed(setting, value)) {
      throw new NodeError(
        'bad_setting',
        `${source}: ${valueText(value)} is not a valid ${file}: ${allowedText(setting)}`,
        { exitCode: 2 },
      );
    }
    settings[name] = value;
    if (source !== 'default') explicit.add(name);
  }
  return { settings, explicit };
}

/** A file can have a mapping or list, which may contain itself. */
function valueText(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? 'a mapping or list'
    : String(JSON.stringify(value));
}

interface UnknownVariable {
  readonly variable: string;
  readonly nearest: string;
}

/** Variables that look like settings but are not, each with the most similar one that is. */
export function unknownVariables(
  table: SettingTable,
  environment: SettingSources['environment'],
): UnknownVariable[] {
  const known = [...Object.keys(table).map((name) => outsideNames(name).variable), CONFIG_VARIABLE];
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('DAYBOOK_') && !known.includes(name),
  );
  return unknown.sort().map((variable) => ({ variable, nearest: nearestName(variable, known) }));
}

/** The most similar one of at least one name. */
export function nearestName(misspelled: string, names: readonly string[]): string {
  return names.reduce((best, name) =>
    editDistance(misspelled, name) < editDistance(misspelled, best) ? name : best,
  );
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 0; at < from.length; at += 1) {
    const next = [at + 1];
    for (let index = 0; index < to.length; index += 1) {
      const changed = row[index]! + (from[at] === to[index] ? 0 : 1);
      next.push(Math.min(changed, row[index + 1]! + 1, next[index]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}

async function readConfigFile(path: string): Promise<Map<string, unknown>> {
  // Loaded only if there is a file: most starts have none.
  const { parse: parseYaml } = await import('yaml');
  const text = readInputFile(path, 'config file', MAX_CONFIG_FILE_BYTES).toString('utf8');
  let content: unknown;
  try {
    // Its warnings would be extra lines on stderr.
    content = parseYaml(text, { logLevel: 'error' });
  } catch (cause) {
    const isTooDeep = (cause as { code?: unknown }).code === TOO_DEEP_CODE;
    const line = isTooDeep ? 'it is nested too deeply' : reasonOf(cause).split('\n')[0];
    throw badConfigFile(`config file ${path}: ${line}`, cause);
  }
  // A mount that failed, or a template that was not filled, would be a node with other settings than somebody wrote.
  if (content === null) throw badConfigFile(`config file ${path} is empty`);
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw badConfigFile(`config file ${path} must hold a mapping of settings`);
  }
  return new Map(Object.entries(content));
}

/** Wrong usage, like a wrong flag: starting the node again does not help. */
function badConfigFile(message: string, cause?: unknown): NodeError {
  return new NodeError('bad_config_file', message, { cause, exitCode: 2 });
}

/** A list of a config file has the form that a flag has. */
function fromList({ isList }: Setting, value: unknown): unknown {
  const isOfTexts = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isList === true && isOfTexts ? value.join(',') : value;
}

/** Converts the text of a flag or variable to the setting's type; any other text is left for the check to refuse. */
function fromText({ type }: Setting, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' && /^-?\d+$/.test(text.trim())) return Number(text);
  if (type === 'boolean' && /^(?:true|1|yes|on)$/i.test(text.trim())) return true;
  if (type === 'boolean' && /^(?:false|0|no|off)$/i.test(text.trim())) return false;
  return text;
}

/** Whether a value has the type of a setting and is within its limits. */
export function isAllowed(setting: Setting, value: unknown): boolean {
  if (setting.type === 'boolean') return typeof value === 'boolean';
  if (setting.type === 'integer') {
    const { minimum = -Infinity, maximum = Infinity } = setting;
    return Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
  }
  const { minLength = 0, maxLength = Infinity, pattern = '', enum: values } = setting;
  return (
    typeof value === 'string' &&
    (values === undefined || values.includes(value)) &&
    value.length >= minLength &&
    value.length <= maxLength &&
    new RegExp(pattern, 'u').test(value)
  );
}

/** The allowed values of a setting, as text: `integer, at least 1, at most 65535`. */
export function allowedText({ type, minimum, maximum, pattern, enum: values }: Setting): string {
  const parts: string[] = [values === undefined ? type : `one of ${values.join(', ')}`];
  if (minimum !== undefined) parts.push(`at least ${minimum}`);
  if (maximum !== undefined) parts.push(`at most ${maximum}`);
  if (pattern !== undefined) parts.push(`matching ${pattern}`);
  return parts.join(', ');
}
