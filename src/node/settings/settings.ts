/** All settings of a serving node: those of the API and those of the node. */
import { readFileSync } from 'node:fs';
import { Clients } from '../../api/load/request-client.ts';
import {
  API_SETTINGS,
  integer,
  type SettingTable,
  type SettingValues,
} from '../../api/settings.ts';
import { builtFile } from '../../built.ts';
import { NodeError, reasonOf } from '../node-error.ts';
import {
  allowedText,
  loadSettings,
  nearestName,
  outsideNames,
  type SettingSources,
} from './setting-sources.ts';

function text(description: string) {
  return { type: 'string', description, default: '' } as const;
}

const OWN_SETTINGS = {
  data: {
    type: 'string',
    description: 'folder of the ledger, or postgres://HOST/DATABASE',
    default: './daybook-data',
    minLength: 1,
  },
  sample: {
    type: 'boolean',
    description:
      'make a small sample ledger if the folder has no ledger; without any setting of data, true',
    default: false,
  },
  listen: {
    type: 'string',
    description: 'HOST:PORT to listen on; port 0 picks a free one',
    default: '127.0.0.1:8080',
  },
  follow: text('URL of a node to replicate, every byte verified; empty for none'),
  waypoint: text(
    'genesis waypoint, or a file that contains it, for a new ledger created by follow',
  ),
  bootstrap: {
    type: 'boolean',
    description:
      'for a new ledger: begin with the newest snapshot that the followed node offers, then follow',
    default: false,
  },
  execute: {
    type: 'boolean',
    description: 'execute each followed transaction and compare the outcome before it is committed',
    default: false,
  },
  snapshots: text(
    'folder of snapshots (daybook snapshot --out FOLDER/NAME) that GET /v1/-/snapshots offers; empty for none',
  ),
  standby: {
    type: 'boolean',
    description: 'where another process writes the ledger: wait, and take over when it is gone',
    default: false,
  },
  fork: text(
    'URL of a node, or URL@VERSION: serve its ledger at that version, by default the newest; data that requests need ' +
      'is fetched once and recorded in the folder',
  ),
  offline: {
    type: 'boolean',
    description: 'serve a fork as far as it is recorded, without its node',
    default: false,
  },
  forkRequestsPerSecond: {
    description: 'requests per second that a fork sends to its node on average',
    ...integer(100, 1, 100_000),
  },
  upstream: text(
    'URL of a node of the same chain for submissions, simulations and pending transactions; ' +
      'empty for the followed node; none for no upstream',
  ),
  produce: {
    description: 'transactions per second to add to a sample ledger; 0 for none',
    ...integer(0, 0, 1_000),
  },
  keepVersions: {
    description:
      'number of newest versions to retain; a writing node prunes older ones; 0 retains all',
    ...integer(0, 0),
  },
  keepSeconds: {
    description: 'seconds before the newest block to retain, by ledger time; 0 for no such limit',
    ...integer(0, 0),
  },
  pruneGraceSeconds: {
    description:
      'time for running requests before pruned data is deleted, in seconds; less than 10 ' +
      'only if no response takes that long',
    ...integer(10, 1, 3_600),
  },
  keepAccounts: {
    ...text(
      'addresses of accounts whose full history is retained from now on, separated by commas',
    ),
    isList: true,
  },
  keepAccountsFile: text('file of such addresses, one per line; # starts a comment'),
  workers: {
    description:
      'processes that serve requests; 1 for a single process that does everything, 0 for ' +
      'one per CPU core',
    ...integer(0, 0, 256),
  },
  indexer: text(
    'tables of the indexer, whose GraphQL is served then: a folder, postgres://HOST/DATABASE, or memory; empty for none',
  ),
  indexerListen: {
    type: 'string',
    description: 'HOST:PORT of the indexer’s GraphQL',
    default: '127.0.0.1:8090',
  },
  metricsListen: text('HOST:PORT that serves GET /metrics in Prometheus format; empty for none'),
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
    description: 'maximum wait for running requests when stopping, in milliseconds',
    ...integer(8_000, 0, 10_000),
  },
} as const satisfies SettingTable;

export const NODE_SETTINGS = { ...OWN_SETTINGS, ...API_SETTINGS } as const satisfies SettingTable;

export type NodeSettings = SettingValues<typeof NODE_SETTINGS>;

/** Settings from flags, environment and config file over the defaults. @throws NodeError */
export async function nodeSettings(sources: SettingSources): Promise<NodeSettings> {
  const { settings, explicit } = await loadSettings(NODE_SETTINGS, sources);
  // A named folder without a ledger is an error: a sample in it would look like a healthy node.
  const sample = explicit.has('sample') ? settings['sample'] : !explicit.has('data');
  const all = { ...settings, sample } as NodeSettings;
  checkProxies(all);
  return all;
}

/** @throws NodeError `bad_setting` */
function checkProxies({ trustedProxies }: NodeSettings): void {
  try {
    new Clients(trustedProxies);
  } catch (cause) {
    throw new NodeError('bad_setting', reasonOf(cause), { cause, exitCode: 2 });
  }
}

/** Callers without types misspell them. @throws NodeError `bad_setting` */
export function assertKnownNames(what: 'option' | 'setting', names: object, known: object): void {
  const unknown = Object.keys(names).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, Object.keys(known));
  const message = `there is no ${what} ${JSON.stringify(unknown)}; the nearest is ${nearest}`;
  throw new NodeError('bad_setting', message);
}

/** The defaults with `changes` over them, for use as a library. @throws NodeError `bad_setting` */
export async function nodeSettingsWith(changes: Partial<NodeSettings>): Promise<NodeSettings> {
  assertKnownNames('setting', changes, NODE_SETTINGS);
  return await nodeSettings({ flags: changes, environment: {} });
}

export function packageVersion(): string {
  const text = readFileSync(builtFile('../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** How `--help-all` groups settings; `--help` shows the first group only. Those of no group are limits. */
const SETTING_GROUPS: Readonly<Record<string, readonly (keyof NodeSettings)[]>> = {
  'Options needed first:': [
    ...(['data', 'listen', 'sample', 'follow', 'fork', 'upstream', 'produce'] as const),
    ...(['keepVersions', 'workers', 'headerPrefix'] as const),
  ],
  'Replication and forks:': [
    ...(['waypoint', 'execute', 'bootstrap', 'snapshots', 'standby', 'offline'] as const),
    ...(['forkRequestsPerSecond', 'maxLagSeconds'] as const),
  ],
  'Indexer:': ['indexer', 'indexerListen'],
  'Pruning:': ['keepSeconds', 'pruneGraceSeconds', 'keepAccounts', 'keepAccountsFile'],
  'Logs and metrics:': ['metricsListen', 'accessLog', 'logLevel'],
  'What the API answers:': ['compressionEnabled', 'maxPageSize'],
};
export const [FIRST_GROUP] = Object.keys(SETTING_GROUPS) as [string];

interface SettingFlag {
  readonly flag: string;
  readonly help: string;
  readonly group: string;
}

/** Every setting as a command-line flag, with its allowed values, default and variable; a bare boolean is true. */
export function settingFlags(): readonly SettingFlag[] {
  const groups = Object.entries(SETTING_GROUPS);
  return Object.entries(NODE_SETTINGS).map(([name, setting]) => {
    const { flag, variable } = outsideNames(name);
    const facts = `${allowedText(setting)}; default ${JSON.stringify(setting.default)}`;
    const found = groups.find(([, names]) => names.includes(name as keyof NodeSettings));
    return {
      flag: `${flag} ${setting.type === 'boolean' ? '[value]' : '<value>'}`,
      help: `${setting.description} (${facts}; env ${variable})`,
      group: found?.[0] ?? 'Limits and time-outs:',
    };
  });
}
