/** All settings of a serving node: those of the API and those of the node. */
import { API_SETTINGS, type SettingTable, type SettingValues } from '../../api/settings.ts';
import {
  allowedText,
  environmentName,
  fileName,
  loadSettings,
  type SettingSources,
} from './setting-sources.ts';

/** Default folder of a ledger. */
export const DEFAULT_DATA_FOLDER = './daybook-data';

const OWN_SETTINGS = {
  data: {
    type: 'string',
    description: 'folder of the ledger',
    default: DEFAULT_DATA_FOLDER,
    minLength: 1,
  },
  listen: {
    type: 'string',
    description: 'HOST:PORT to listen on; port 0 picks a free one',
    default: '127.0.0.1:8080',
  },
  follow: {
    type: 'string',
    description: 'URL of a node to replicate, every byte verified; empty for none',
    default: '',
  },
  waypoint: {
    type: 'string',
    description: 'genesis waypoint, or a file that contains it, for a new ledger created by follow',
    default: '',
  },
  produce: {
    type: 'integer',
    description: 'transactions per second to add to a sample ledger; 0 for none',
    default: 0,
    minimum: 0,
    maximum: 10_000,
  },
  keepVersions: {
    type: 'integer',
    description:
      'number of newest versions to retain; a writing node prunes older ones; 0 retains all',
    default: 0,
    minimum: 0,
  },
  keepSeconds: {
    type: 'integer',
    description: 'seconds before the newest block to retain, by ledger time; 0 for no such limit',
    default: 0,
    minimum: 0,
  },
  pruneGraceSeconds: {
    type: 'integer',
    description:
      'time for running requests before pruned data is deleted, in seconds; less than 10 ' +
      'only if no response takes that long',
    default: 10,
    minimum: 1,
    maximum: 3_600,
  },
  keepAccounts: {
    type: 'string',
    description:
      'addresses of accounts whose full history is retained from now on, separated by commas',
    default: '',
  },
  keepAccountsFile: {
    type: 'string',
    description: 'file of such addresses, one per line; # starts a comment',
    default: '',
  },
  workers: {
    type: 'integer',
    description:
      'processes that serve requests; 1 for a single process that does everything, 0 for ' +
      'one per CPU core',
    default: 0,
    minimum: 0,
    maximum: 256,
  },
  metricsListen: {
    type: 'string',
    description: 'HOST:PORT that serves GET /metrics in Prometheus format; empty for none',
    default: '',
  },
  accessLog: {
    type: 'string',
    enum: ['off', 'sampled', 'all'],
    description:
      'log requests: all, or sampled: one per second for 5xx, one per minute for 4xx, one ' +
      'per second for others at level debug',
    default: 'off',
  },
  logLevel: {
    type: 'string',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    description: 'minimum level of log lines on stderr',
    default: 'info',
  },
  shutdownTimeoutMs: {
    type: 'integer',
    description: 'maximum wait for running requests when stopping, in milliseconds',
    default: 8_000,
    minimum: 0,
    maximum: 10_000,
  },
} as const satisfies SettingTable;

/** Every setting, in the order in which `--help` shows them. */
export const NODE_SETTINGS = { ...OWN_SETTINGS, ...API_SETTINGS } as const satisfies SettingTable;

export type NodeSettings = SettingValues<typeof NODE_SETTINGS>;

/** Settings from flags, environment and config file over the defaults. @throws NodeError */
export async function nodeSettings(sources: SettingSources): Promise<NodeSettings> {
  return (await loadSettings(NODE_SETTINGS, sources)) as NodeSettings;
}

/** The defaults with `changes` over them, for use as a library. @throws NodeError `bad_setting` */
export function nodeSettingsWith(changes: Partial<NodeSettings>): Promise<NodeSettings> {
  return nodeSettings({ flags: changes, environment: {} });
}

/** Every setting as a command-line flag, with its allowed values, default and environment variable. */
export function settingFlags(): readonly { readonly flag: string; readonly help: string }[] {
  return Object.entries(NODE_SETTINGS).map(([name, setting]) => {
    const { description, default: defaultValue } = setting;
    const facts = `${allowedText(setting)}; default ${JSON.stringify(defaultValue)}`;
    return {
      flag: `--${fileName(name).replaceAll('_', '-')}`,
      help: `${description} (${facts}; env ${environmentName(name)})`,
    };
  });
}
