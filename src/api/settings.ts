/**
 * Settings of the HTTP interface: a table of names, types, limits, defaults and descriptions, whose values
 * src/node/settings reads and checks; and constants.
 */
/** Events or transactions on a page when `limit` is absent (docs/spec/http.md §7.1, §11.1). */
export const DEFAULT_PAGE_SIZE = 25;
const MAX_STORED_ROWS = 10_000;

/** One setting. The member names are those of JSON Schema. */
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
  /** The string has several values, separated by commas. In a config file it may be a list. */
  readonly isList?: true;
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

/** Every setting of the interface, in the order in which `--help` shows them. */
export const API_SETTINGS = {
  headerPrefix: {
    type: 'string',
    description: 'prefix of the ledger headers; X-Aptos for existing SDKs',
    default: 'X-NODE',
    pattern: '^[A-Za-z][A-Za-z0-9-]{0,63}$',
  },
  compressionEnabled: {
    type: 'boolean',
    description: 'compress responses and decompress request bodies (br, gzip, deflate)',
    default: true,
  },
  maxPageSize: {
    description:
      'maximum events or transactions per page; larger limits are reduced to it; ' +
      'nodes that follow get ten times as many transactions',
    ...integer(100, 1, MAX_STORED_ROWS),
  },
  maxBacklogMs: {
    description:
      'milliseconds of work per turn of the event loop; in lasting overload further requests get 503; 0 for no limit',
    ...integer(100, 0, 60_000),
  },
  maxUnsentBytes: {
    description:
      'bytes of answers being made or not yet read, and of bodies being received; above it listings and bodies get ' +
      '503, above twice as much all requests; 0 for no limit',
    ...integer(256 * 1024 * 1024, 0, Number.MAX_SAFE_INTEGER),
  },
  trustedProxies: {
    type: 'string',
    isList: true,
    description:
      'addresses and networks of proxies, separated by commas, whose header Forwarded names the client; ' +
      'empty: a client is the address of a connection',
    default: '',
    maxLength: 4096,
  },
  minVersionWaitMs: {
    description:
      'maximum wait for the version that a request requires, in milliseconds; 0 does not wait',
    ...integer(5_000, 0, 60_000),
  },
  requestTimeoutMs: {
    description:
      'maximum time to receive a request, and for a client to read any part of a response, in milliseconds',
    ...integer(60_000, 1, 3_600_000),
  },
  keepAliveTimeoutMs: {
    description: 'time an idle connection is kept open, in milliseconds',
    ...integer(72_000, 1, 3_600_000),
  },
  maxLagSeconds: {
    description:
      'lag of the ledger above which /v1/-/ready answers 503, in seconds; 0 for no limit',
    ...integer(0, 0, 1_000_000_000),
  },
} as const satisfies SettingTable;

/** Values that no operator has to set; tests use others. */
interface ApiConstants {
  /** The role that the ledger info shows for the node. */
  readonly nodeRole: 'validator' | 'full_node';
  readonly gitHash: string;
  /** The largest request body, as sent and decompressed (docs/spec/http.md §10.3). */
  readonly contentLengthLimitBytes: number;
  /** Request line and headers together: type names in paths can be long. */
  readonly maxHeaderBytes: number;
  /** Transactions that are returned with a block; a client requests the others by version. */
  readonly maxBlockTransactionsPageSize: number;
  /** State keys of an account on a page of resources or modules; a group counts once. */
  readonly maxAccountPageSize: number;
  /** Responses being compressed at the same time; others are sent uncompressed. */
  readonly maxCompressions: number;
  /** Requests waiting for a version at the same time; further ones get 503. */
  readonly maxVersionWaiters: number;
  /** Event streams open at the same time; further ones get 503. */
  readonly maxListeners: number;
  readonly headersTimeoutMs: number;
}

export const API_CONSTANTS: ApiConstants = {
  nodeRole: 'full_node',
  gitHash: '',
  contentLengthLimitBytes: 8 * 1024 * 1024,
  maxHeaderBytes: 80 * 1024,
  maxBlockTransactionsPageSize: MAX_STORED_ROWS,
  maxAccountPageSize: 9_999,
  maxCompressions: 64,
  maxVersionWaiters: 1_000,
  maxListeners: 10_000,
  headersTimeoutMs: 15_000,
};

export type ApiSettings = SettingValues<typeof API_SETTINGS> & ApiConstants;
