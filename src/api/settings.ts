/**
 * Settings of the HTTP interface: one schema defines name, type, limits, default and description.
 */

import { DEFAULT_DOMAIN_PREFIX } from '../move/crypto/hash.ts';
import { conformsToScalar, type Schema, type Static, Type } from './schemas/json-schema.ts';

/** 8 MiB: the largest request body, decompressed (docs/spec/http.md §10.3). */
export const DEFAULT_CONTENT_LENGTH_LIMIT_BYTES = 8 * 1024 * 1024;
/** Events or transactions on a page when `limit` is absent (docs/spec/http.md §7.1, §11.1). */
export const DEFAULT_PAGE_SIZE = 25;
/** `limit` is a u16. */
const MAX_PAGE_LIMIT = 65_535;
/** As many rows as the store gives at once. */
const MAX_TRANSACTIONS_PAGE_SIZE = 10_000;

function backlogSetting(work: string): Schema<number> {
  return Type.Integer({
    description:
      `work on ${work} that a process takes on in one turn, in milliseconds; ` +
      'in lasting overload further requests get 503; 0 for no bound',
    default: 100,
    minimum: 0,
    maximum: 60_000,
  });
}

/** Schema of ApiSettings; the node's configuration is made of this and its own. */
export const ApiSettingsSchema = Type.Object({
  headerPrefix: Type.String({
    description: 'prefix of the ledger headers; X-Aptos suits existing SDKs',
    default: 'X-NODE',
    pattern: '^[A-Za-z][A-Za-z0-9-]{0,63}$',
  }),
  jsonOutputEnabled: Type.Boolean({
    description: 'answer in JSON; when off, such requests get 403 api_disabled',
    default: true,
  }),
  bcsOutputEnabled: Type.Boolean({
    description: 'answer in BCS; when off, such requests get 403 api_disabled',
    default: true,
  }),
  encodeSubmissionEnabled: Type.Boolean({
    description: 'answer POST /v1/transactions/encode_submission',
    default: true,
  }),
  compressionEnabled: Type.Boolean({
    description: 'compress answers and decompress request bodies (br, gzip, deflate)',
    default: true,
  }),
  contentLengthLimitBytes: Type.Integer({
    description: 'largest request body in bytes, as sent and decompressed',
    default: DEFAULT_CONTENT_LENGTH_LIMIT_BYTES,
    minimum: 0,
    maximum: 1024 * 1024 * 1024,
  }),
  maxEventsPageSize: Type.Integer({
    description: 'most events on one page; larger limits are reduced to it',
    default: 100,
    minimum: 1,
    maximum: MAX_PAGE_LIMIT,
  }),
  maxTransactionsPageSize: Type.Integer({
    description: 'most transactions on one page; larger limits are reduced to it',
    default: 100,
    minimum: 1,
    maximum: MAX_TRANSACTIONS_PAGE_SIZE,
  }),
  maxBlockTransactionsPageSize: Type.Integer({
    description: 'most transactions given with a block; the others can be had by their versions',
    default: 10_000,
    minimum: 1,
    maximum: MAX_TRANSACTIONS_PAGE_SIZE,
  }),
  maxAccountResourcesPageSize: Type.Integer({
    description: 'most state keys on one page of resources, a group counting once',
    default: 9_999,
    minimum: 1,
    maximum: MAX_PAGE_LIMIT,
  }),
  maxAccountModulesPageSize: Type.Integer({
    description: 'most modules on one page',
    default: 9_999,
    minimum: 1,
    maximum: MAX_PAGE_LIMIT,
  }),
  nodeRole: Type.Enum(['validator', 'full_node'], {
    description: 'node_role of the index',
    default: 'full_node',
  }),
  gitHash: Type.String({
    description: 'git_hash of the index',
    default: '',
    maxLength: 64,
  }),
  signingDomainPrefix: Type.String({
    description: 'text before the type name in the seed of a signing message',
    default: DEFAULT_DOMAIN_PREFIX,
    maxLength: 64,
  }),
  maxHeaderBytes: Type.Integer({
    description: 'largest request line and headers together, in bytes (long type tags in paths)',
    default: 80 * 1024,
    minimum: 4096,
    maximum: 1024 * 1024,
  }),
  maxReadBacklogMs: backlogSetting('single things (balances, modules, resources, blocks)'),
  maxListingBacklogMs: backlogSetting('listings and pages (events, transactions, resources)'),
  maxBodyBacklogMs: backlogSetting('request bodies (encode and decode)'),
  maxUnsentBytes: Type.Integer({
    description:
      'bytes of large answers that clients have yet to take; above it listings get 503; 0 for no bound',
    default: 256 * 1024 * 1024,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
  maxCompressions: Type.Integer({
    description: 'answers being compressed at once; others go out as they are; 0 for no bound',
    default: 64,
    minimum: 0,
    maximum: 1_000_000,
  }),
  maxReceivingBytes: Type.Integer({
    description: 'bytes of request bodies being received at once; more wait; 0 for no bound',
    default: 64 * 1024 * 1024,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
  maxWaitingBodies: Type.Integer({
    description: 'request bodies that wait to be received; further ones get 503; 0 for no bound',
    default: 1_024,
    minimum: 0,
    maximum: 1_000_000,
  }),
  minVersionWaitMs: Type.Integer({
    description:
      'longest wait for the version that a request must see, in milliseconds; 0 answers at once',
    default: 5_000,
    minimum: 0,
    maximum: 60_000,
  }),
  maxVersionWaiters: Type.Integer({
    description: 'requests that may wait for a version at once; further ones get 503',
    default: 1_000,
    minimum: 0,
    maximum: 1_000_000,
  }),
  maxLagSeconds: Type.Integer({
    description: 'lag of the ledger above which /v1/-/ready answers 503, in seconds; 0 for none',
    default: 0,
    minimum: 0,
    maximum: 1_000_000_000,
  }),
  headersTimeoutMs: Type.Integer({
    description: 'time to receive the headers of a request, in milliseconds',
    default: 15_000,
    minimum: 1,
    maximum: 3_600_000,
  }),
  requestTimeoutMs: Type.Integer({
    description:
      'time to receive a whole request, and to take any part of an answer, in milliseconds',
    default: 60_000,
    minimum: 1,
    maximum: 3_600_000,
  }),
  keepAliveTimeoutMs: Type.Integer({
    description: 'time an idle connection is kept open, in milliseconds',
    default: 72_000,
    minimum: 1,
    maximum: 3_600_000,
  }),
});

/** Settings of the HTTP interface, all present. */
export type ApiSettings = Static<typeof ApiSettingsSchema>;

/** The defaults, with `changes` over them. @throws TypeError for values that the schema refuses. */
export function apiSettings(changes: Partial<ApiSettings> = {}): ApiSettings {
  const settings: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(ApiSettingsSchema.properties)) {
    const value = changes[name as keyof ApiSettings] ?? schema['default'];
    if (!conformsToScalar(schema, value)) {
      throw new TypeError(`API setting ${name}: ${JSON.stringify(value)} does not fit its schema`);
    }
    settings[name] = value;
  }
  return settings as unknown as ApiSettings;
}
