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
/** As many rows as the store gives at once. */
const MAX_TRANSACTIONS_PAGE_SIZE = 10_000;

/** What a setting may be. The names are those of JSON Schema. */
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

/** Settings by name. */
export type SettingTable = Readonly<Record<string, Setting>>;

/** The values of a table's settings. */
export type SettingValues<T extends SettingTable> = {
  readonly [Name in keyof T]: T[Name] extends { readonly enum: readonly (infer Choice)[] }
    ? Choice
    : { boolean: boolean; integer: number; string: string }[T[Name]['type']];
};

/** An integer of a range. */
function integer(fallback: number, minimum: number, maximum: number) {
  return { type: 'integer', default: fallback, minimum, maximum } as const;
}

const ON = { type: 'boolean', default: true } as const;

function backlogSetting(work: string) {
  const description =
    `work on ${work} that a process takes on in one turn, in milliseconds; ` +
    'in lasting overload further requests get 503; 0 for no bound';
  return { description, ...integer(100, 0, 60_000) };
}

/** Every setting of the interface, in the order in which `--help` shows them. */
export const API_SETTINGS = {
  headerPrefix: {
    type: 'string',
    description: 'prefix of the ledger headers; X-Aptos suits existing SDKs',
    default: 'X-NODE',
    pattern: '^[A-Za-z][A-Za-z0-9-]{0,63}$',
  },
  jsonOutputEnabled: {
    description: 'answer in JSON; when off, such requests get 403 api_disabled',
    ...ON,
  },
  bcsOutputEnabled: {
    description: 'answer in BCS; when off, such requests get 403 api_disabled',
    ...ON,
  },
  encodeSubmissionEnabled: {
    description: 'answer POST /v1/transactions/encode_submission',
    ...ON,
  },
  compressionEnabled: {
    description: 'compress answers and decompress request bodies (br, gzip, deflate)',
    ...ON,
  },
  contentLengthLimitBytes: {
    description: 'largest request body in bytes, as sent and decompressed',
    ...integer(DEFAULT_CONTENT_LENGTH_LIMIT_BYTES, 0, 1024 * 1024 * 1024),
  },
  maxEventsPageSize: {
    description: 'most events on one page; larger limits are reduced to it',
    ...integer(100, 1, MAX_PAGE_LIMIT),
  },
  maxTransactionsPageSize: {
    description: 'most transactions on one page; larger limits are reduced to it',
    ...integer(100, 1, MAX_TRANSACTIONS_PAGE_SIZE),
  },
  maxBlockTransactionsPageSize: {
    description: 'most transactions given with a block; the others can be had by their versions',
    ...integer(10_000, 1, MAX_TRANSACTIONS_PAGE_SIZE),
  },
  maxAccountResourcesPageSize: {
    description: 'most state keys on one page of resources, a group counting once',
    ...integer(9_999, 1, MAX_PAGE_LIMIT),
  },
  maxAccountModulesPageSize: {
    description: 'most modules on one page',
    ...integer(9_999, 1, MAX_PAGE_LIMIT),
  },
  nodeRole: {
    type: 'string',
    enum: ['validator', 'full_node'],
    description: 'node_role of the index',
    default: 'full_node',
  },
  gitHash: {
    type: 'string',
    description: 'git_hash of the index',
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
    description: 'largest request line and headers together, in bytes (long type tags in paths)',
    ...integer(80 * 1024, 4096, 1024 * 1024),
  },
  maxReadBacklogMs: backlogSetting('single things (balances, modules, resources, blocks)'),
  maxListingBacklogMs: backlogSetting('listings and pages (events, transactions, resources)'),
  maxBodyBacklogMs: backlogSetting('request bodies (encode and decode)'),
  maxUnsentBytes: {
    description:
      'bytes of large answers that clients have yet to take; above it listings get 503; 0 for no bound',
    ...integer(256 * 1024 * 1024, 0, Number.MAX_SAFE_INTEGER),
  },
  maxCompressions: {
    description: 'answers being compressed at once; others go out as they are; 0 for no bound',
    ...integer(64, 0, 1_000_000),
  },
  maxReceivingBytes: {
    description: 'bytes of request bodies being received at once; more wait; 0 for no bound',
    ...integer(64 * 1024 * 1024, 0, Number.MAX_SAFE_INTEGER),
  },
  maxWaitingBodies: {
    description: 'request bodies that wait to be received; further ones get 503; 0 for no bound',
    ...integer(1_024, 0, 1_000_000),
  },
  minVersionWaitMs: {
    description:
      'longest wait for the version that a request must see, in milliseconds; 0 answers at once',
    ...integer(5_000, 0, 60_000),
  },
  maxVersionWaiters: {
    description: 'requests that may wait for a version at once; further ones get 503',
    ...integer(1_000, 0, 1_000_000),
  },
  maxLagSeconds: {
    description: 'lag of the ledger above which /v1/-/ready answers 503, in seconds; 0 for none',
    ...integer(0, 0, 1_000_000_000),
  },
  headersTimeoutMs: {
    description: 'time to receive the headers of a request, in milliseconds',
    ...integer(15_000, 1, 3_600_000),
  },
  requestTimeoutMs: {
    description:
      'time to receive a whole request, and to take any part of an answer, in milliseconds',
    ...integer(60_000, 1, 3_600_000),
  },
  keepAliveTimeoutMs: {
    description: 'time an idle connection is kept open, in milliseconds',
    ...integer(72_000, 1, 3_600_000),
  },
} as const satisfies SettingTable;

/** Settings of the HTTP interface, all present. */
export type ApiSettings = SettingValues<typeof API_SETTINGS>;
