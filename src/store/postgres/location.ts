/**
 * The location of a ledger in PostgreSQL: `postgres://[user[:password]@]host[:port][,host[:port]…]/database[?…]`. The
 * parameters after `?` are those of `pg` (`sslmode`, `sslrootcert`, `options`, …) and two of our own:
 * `target_session_attrs` says which of the hosts to read from, and `schema` names the ledger's schema, because several
 * ledgers can share a database. If the location has no password, `PGPASSWORD`, `PGPASSFILE` or `~/.pgpass` is used.
 */
import { StoreError } from '../store-error.ts';

/** Which of several servers to use, as libpq documents it (`target_session_attrs`). */
const SESSION_ATTRIBUTES = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const;
export type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

const ATTRIBUTES_PARAMETER = 'target_session_attrs';
const DEFAULT_SCHEMA = 'daybook';
const SCHEMA_PARAMETER = 'schema';
/** PostgreSQL cuts longer names. */
export const MAX_SCHEMA_CHARACTERS = 63;
const PREFIX = /^postgres(?:ql)?:\/\//i;
const PARTS = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^@/?#]*)(\/[^@?#]*)?(?:\?([^@#]*))?$/i;
const HOST = /^(?:\[[0-9a-f:.]*\]|[^[\]:]*)(?::\d{1,5})?$/i;

export interface PostgresLocation {
  /** One URL for each host, in their order, for `pg`. They may contain a password. */
  readonly urls: readonly string[];
  readonly schema: string;
  /** Which of the servers to read from; writing needs one that is `read-write`. */
  readonly attributes: SessionAttributes;
  /** The location that messages show, without user, password and parameters. */
  readonly displayName: string;
}

export function isPostgresUrl(location: string): boolean {
  return PREFIX.test(location);
}

/** @throws StoreError `store_location_invalid` */
export function parsePostgresUrl(url: string): PostgresLocation {
  const parts = partsOf(url);
  if (parts === undefined) {
    throw invalid(
      'it is not postgres://USER@HOST:PORT/DATABASE, or a password in it is not percent-encoded',
    );
  }
  const { user, hosts, path, parameters } = parts;
  const schema = parameters.get(SCHEMA_PARAMETER) ?? DEFAULT_SCHEMA;
  checkSchema(schema);
  const attributes = attributesOf(parameters.get(ATTRIBUTES_PARAMETER) ?? 'any');
  parameters.delete(SCHEMA_PARAMETER);
  parameters.delete(ATTRIBUTES_PARAMETER);
  const rest = parameters.size === 0 ? '' : `?${parameters}`;
  const urls = hosts.map((host) => `postgres://${user}${host}${path}${rest}`);
  return { urls, schema, attributes, displayName: redactedPostgresUrl(url) };
}

/** A location without user, password, and parameters other than the schema. It may be malformed. */
export function redactedPostgresUrl(url: string): string {
  const parts = partsOf(url);
  if (parts === undefined) return 'postgres://…';
  const { hosts, path, parameters } = parts;
  const schema = parameters.get(SCHEMA_PARAMETER);
  const query = schema === null ? '' : `?${SCHEMA_PARAMETER}=${schema}`;
  return `postgres://${hosts.join(',')}${path}${query}`;
}

function partsOf(url: string) {
  const match = PARTS.exec(url);
  if (match === null) return undefined;
  const [, user, authority = '', path = '', query = ''] = match;
  const hosts = authority.split(',');
  if (!hosts.every((host) => HOST.test(host))) return undefined;
  const parameters = new URLSearchParams(query);
  return { user: user === undefined ? '' : `${user}@`, hosts, path, parameters };
}

function checkSchema(schema: string): void {
  const isName = /^[a-z_][a-z0-9_]*$/.test(schema) && !schema.startsWith('pg_');
  if (isName && schema.length <= MAX_SCHEMA_CHARACTERS) return;
  throw invalid(
    `${SCHEMA_PARAMETER} must be at most ${MAX_SCHEMA_CHARACTERS} of a-z, 0-9 and _, not begin with a digit or pg_`,
  );
}

function attributesOf(text: string): SessionAttributes {
  const known = SESSION_ATTRIBUTES.find((attributes) => attributes === text);
  if (known !== undefined) return known;
  throw invalid(`${ATTRIBUTES_PARAMETER} must be one of ${SESSION_ATTRIBUTES.join(', ')}`);
}

function invalid(detail: string): StoreError {
  return new StoreError('store_location_invalid', `the location of the ledger is wrong: ${detail}`);
}
