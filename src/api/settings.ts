/**
 * Settings of the HTTP interface: a table of names, types, limits, defaults and descriptions. src/node/settings reads
 * and checks their values.
 */
import { DEFAULT_DOMAIN_PREFIX } from '../move/crypto/hash.ts';

/** 8 MiB: the largest request body, decompressed (docs/spec/http.md §10.3). */
export const DEFAULT_CONTENT_LENGTH_LIMIT_BYTES = 8 * 1024 * 1024;
/** Events or transactions on a page when `limit` is absent (docs/spec/http.md §7.1, §11.1). */
export const DEFAULT_PAGE_SIZE = 25;
/** `limit` is a u16. */
const MAX_PAGE_LIMIT = 65_535;
/** Maximum rows that the store returns at once. */
const MAX_TRANSACTIONS_PAGE_SIZE = 10_000;

/** The kinds of settings. The names are those of JSON Schema. */
export interface Setting {
  readonly type: 'boolean' | 'integer' | 'string';
  readonly description: string;
  readonly default: boolean | number | string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
}

export type SettingTable = Readonly<Record<string, Setting>>;

export type SettingValues<T extends SettingTable> = {
  readonly [Name in keyof T]: T[Name] extends { readonly enum: readonly (infer Choice)[] }
    ? Choice
    : { boolean: boolean; integer: number; string: string }[T[Name]['type']];
};

export function integer(fallback: number, minimum: number, maximum?: number) {
  const limits = maximum === undefined ? { minimum } : { minimum, maximum };
  return { type: 'integer', default: fallback, ...limits } as const;
}

function enabled(description: string) {
  return { type: 'boolean', description, default: true } as const;
}

function backlogSetting(work: string) {
  const description =
    `milliseconds of work on ${work} per turn of the event loop; ` +
    'in lasting overload further requests get 503; 0 for no limit';
  return { description, ...integer(100, 0, 60_000) };
}

/** Every setting of the interface, in the order in which `--help` shows them. */
export const API_SETTINGS = {
  headerPrefix: {
    type: 'string',
    description: 'prefix of the ledger headers; X-Aptos for existing SDKs',
    default: 'X-NODE',
    pattern: '^[A-Za-z][A-Za-z0-9-]{0,63}$',
  },
  jsonOutputEnabled: enabled(
    'allow JSON responses; when off, requests for JSON get 403 api_disabled',
  ),
  bcsOutputEnabled: enabled('allow BCS responses; when off, requests for BCS get 403 api_disabled'),
  encodeSubmissionEnabled: enabled('serve POST /v1/transactions/encode_submission'),
  compressionEnabled: enabled(
    'compress responses and decompress request bodies (br, gzip, deflate)',
  ),
  contentLengthLimitBytes: {
    description: 'maximum request body in bytes, both as sent and decompressed',
    ...integer(DEFAULT_CONTENT_LENGTH_LIMIT_BYTES, 0, 1024 * 1024 * 1024),
  },
  maxEventsPageSize: {
    description: 'maximum events per page; larger limits are reduced to it',
    ...integer(100, 1, MAX_PAGE_LIMIT),
  },
  maxTransactionsPageSize: {
    description: 'maximum transactions per page; larger limits are reduced to it',
    ...integer(100, 1, MAX_TRANSACTIONS_PAGE_SIZE),
  },
  maxBlockTransactionsPageSize: {
    description: 'maximum transactions returned with a block; request the others by version',
    ...integer(10_000, 1, MAX_TRANSACTIONS_PAGE_SIZE),
  },
  maxAccountResourcesPageSize: {
    description: 'maximum state keys per page of resources, a group counting once',
    ...integer(9_999, 1, MAX_PAGE_LIMIT),
  },
  maxAccountModulesPageSize: {
    description: 'maximum modules per page',
    ...integer(9_999, 1, MAX_PAGE_LIMIT),
  },
  nodeRole: {
    type: 'string',
    enum: ['validator', 'full_node'],
    description: 'node_role in the ledger info',
    default: 'full_node',
  },
  gitHash: {
    type: 'string',
    description: 'git_hash in the ledger info',
    default: '',
    maxLength: 64,
  },
  signingDomainPrefix: {
    type: 'string',
    description: 'text before the type name in the seed of a signing message',
    default: DEFAULT_DOMAIN_PREFIX,
    maxLength: 64,
  },
  maxHeaderBytes: {
    description:
      'maximum total size of request line and headers, in bytes (type names in paths can be long)',
    ...integer(80 * 1024, 4096, 1024 * 1024),
  },
  maxReadBacklogMs: backlogSetting('single items (balances, modules, resources, blocks)'),
  maxListingBacklogMs: backlogSetting('listings and pages (events, transactions, resources)'),
  maxBodyBacklogMs: backlogSetting('request bodies (encode and decode)'),
  maxUnsentBytes: {
    description:
      'bytes of responses not yet read by clients; above it listings get 503, above twice as much all requests; ' +
      '0 for no limit',
    ...integer(256 * 1024 * 1024, 0, Number.MAX_SAFE_INTEGER),
  },
  maxClientRequests: {
    description:
      'requests of one client in 10 seconds to one process; further ones get 429; answers have the headers ' +
      'RateLimit-Policy and RateLimit; 0 for neither limit nor headers',
    ...integer(0, 0, 1_000_000_000),
  },
  trustedProxies: {
    type: 'string',
    description:
      'addresses and networks of proxies, separated by commas, whose header Forwarded names the client; ' +
      'empty: a client is the address of a connection',
    default: '',
    maxLength: 4096,
  },
  maxCompressions: {
    description:
      'responses being compressed at the same time; others are sent uncompressed; 0 for no limit',
    ...integer(64, 0, 1_000_000),
  },
  maxReceivingBytes: {
    description:
      'bytes of request bodies being received at the same time; more wait; 0 for no limit',
    ...integer(64 * 1024 * 1024, 0, Number.MAX_SAFE_INTEGER),
  },
  maxWaitingBodies: {
    description: 'request bodies waiting to be received; further ones get 503; 0 for no limit',
    ...integer(1_024, 0, 1_000_000),
  },
  minVersionWaitMs: {
    description:
      'maximum wait for the version that a request requires, in milliseconds; 0 does not wait',
    ...integer(5_000, 0, 60_000),
  },
  maxVersionWaiters: {
    description: 'requests waiting for a version at the same time; further ones get 503',
    ...integer(1_000, 0, 1_000_000),
  },
  maxListeners: {
    description: 'event streams open at the same time; further ones get 503',
    ...integer(10_000, 0, 1_000_000),
  },
  maxLagSeconds: {
    description:
      'lag of the ledger above which /v1/-/ready answers 503, in seconds; 0 for no limit',
    ...integer(0, 0, 1_000_000_000),
  },
  headersTimeoutMs: {
    description: 'maximum time to receive the headers of a request, in milliseconds',
    ...integer(15_000, 1, 3_600_000),
  },
  requestTimeoutMs: {
    description:
      'maximum time to receive a request, and for a client to read any part of a response, ' +
      'in milliseconds',
    ...integer(60_000, 1, 3_600_000),
  },
  keepAliveTimeoutMs: {
    description: 'time an idle connection is kept open, in milliseconds',
    ...integer(72_000, 1, 3_600_000),
  },
} as const satisfies SettingTable;

/** Settings of the HTTP interface, all present. */
export type ApiSettings = SettingValues<typeof API_SETTINGS>;
