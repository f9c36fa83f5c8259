// The sides of the comparison: Daybook, and databases behind fastify. Each loads the same ledger, reports its size on
// disk, and starts its server: { name, commit(files, versions, mostVersions), bytes(), start() }, where start returns {
// origin, pids(), cpuMs(), stop() }.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../child.mjs';
import { PROGRAM, TRANSACTIONS_PER_ACCOUNT, UNBOUNDED } from '../ledgers.mjs';
import { startPostgres } from '../postgres-server.mjs';
import { cpuMsOfAll, withChildren } from '../process-figures.mjs';
import { commitChunks } from './commit-chunks.mjs';
import { TABLES } from './rows.mjs';

const API = fileURLToPath(new URL('./api.mjs', import.meta.url));

function folderBytes(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, { parentPath, path, name }) => sum + statSync(join(parentPath ?? path, name)).size,
      0,
    );
}

/** Loads files in groups; only `load` is timed. @param {() => number} cpuMs of all loading processes */
async function timedLoad({ files, versions, mostVersions, cpuMs, prepare, load }) {
  const total = { ms: 0, cpuMs: 0, commits: 0, transactions: 0 };
  for (const rows of files.groups(versions, mostVersions)) {
    const prepared = prepare(rows);
    const [startedMs, beforeMs] = [performance.now(), cpuMs()];
    await load(prepared);
    total.ms += performance.now() - startedMs;
    total.cpuMs += cpuMs() - beforeMs;
    total.transactions += rows.transactions.length;
    total.commits += 1;
  }
  const perSecond = (count) => count / (total.ms / 1_000);
  return {
    transactionsPerSecond: perSecond(total.transactions),
    commitsPerSecond: perSecond(total.commits),
    processorUs: (total.cpuMs * 1_000) / total.transactions,
  };
}

/** @param {string} folder an empty one @param {number} transactions of the ledger */
export function daybookSide(folder, transactions) {
  const accounts = Math.max(500, Math.floor(transactions / TRANSACTIONS_PER_ACCOUNT));
  let made = 0;
  const fill = async (versions, mostVersions = transactions) => {
    const directory = join(folder, `ledger${made}`);
    made += 1;
    const committed = await commitChunks(
      directory,
      Math.min(transactions, mostVersions),
      versions,
      accounts,
    );
    return { directory, committed };
  };
  let served;
  const start = async () => {
    const node = await startChild([
      ...[PROGRAM, 'serve', '--data', served, '--listen', '127.0.0.1:0'],
      ...['--workers', '1', '--log-level', 'warn', ...UNBOUNDED],
    ]);
    const pids = () => withChildren(node.pid);
    const { origin } = new URL(node.ready.url);
    return { origin, pids, cpuMs: () => cpuMsOfAll(pids()), stop: node.stop };
  };
  return {
    name: 'Daybook',
    /** The ledger that the other sides index, and that Daybook serves. */
    prepare: async () => {
      served = (await fill(1_000)).directory;
    },
    commit: async (_files, versions, mostVersions) => {
      const { directory, committed } = await fill(versions, mostVersions);
      rmSync(directory, { recursive: true });
      return {
        transactionsPerSecond: committed.transactions,
        commitsPerSecond: committed.commits,
        processorUs: committed.processorUs,
      };
    },
    bytes: () => ({ all: folderBytes(served) }),
    start,
    close: async () => undefined,
  };
}

const POSTGRES_TYPES = { bytes: 'bytea', number: 'bigint', text: 'text', decimal: 'numeric(20)' };

/** Formats a value for COPY's text format. */
function copyText(value, type) {
  if (type === 'bytes') return `\\\\x${value}`;
  const text = String(value);
  if (!/[\\\n\r\t]/.test(text)) return text;
  const escapes = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return text.replace(/[\\\n\r\t]/g, (character) => escapes[character]);
}

function copyScript(rows) {
  const copies = Object.entries(rows).map(([table, values]) => {
    const types = Object.values(TABLES[table].columns);
    const lines = values.map((row) =>
      row.map((value, at) => copyText(value, types[at])).join('\t'),
    );
    return `COPY ${table} FROM STDIN;\n${lines.join('\n')}${lines.length > 0 ? '\n' : ''}\\.`;
  });
  return `BEGIN;\n${copies.join('\n')}\nCOMMIT;`;
}

function schema(types) {
  return Object.entries(TABLES).map(([table, { columns, key }]) => {
    const list = Object.entries(columns).map(([name, type]) => `${name} ${types[type]} NOT NULL`);
    return `CREATE TABLE ${table} (${list.join(', ')}, PRIMARY KEY (${key.join(', ')}))`;
  });
}

async function startApi(args, others = { pids: () => [], cpuMs: () => 0, stop: () => undefined }) {
  const api = await startChild([API, ...args]);
  return {
    origin: api.ready.url,
    pids: () => [api.pid, ...others.pids()],
    cpuMs: () => cpuMsOfAll([api.pid]) + others.cpuMs(),
    stop: async () => {
      await api.stop();
      await others.stop();
    },
  };
}

/** @param {string} bin PostgreSQL's programs @param {string} folder an empty one */
export async function postgresSide(bin, folder) {
  let database = await startPostgres(bin, folder);
  const [version] = database.query('SHOW server_version');
  return {
    name: 'PostgreSQL',
    version,
    settings: database.settings,
    commit: async (files, versions, mostVersions) => {
      const tables = [...schema(POSTGRES_TYPES), copyScript(files.genesis())];
      const session = database.session();
      await session.run(
        'SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public;',
      );
      await session.run(tables.join(';\n'));
      const committed = await timedLoad({
        ...{ files, versions, mostVersions },
        ...{ cpuMs: database.cpuMs, prepare: copyScript, load: (script) => session.run(script) },
      });
      await session.run('VACUUM ANALYZE;');
      await session.end();
      return committed;
    },
    bytes: () => {
      const rows = database.query(
        "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
      );
      const tables = Object.fromEntries(
        rows.map((row) => row.split('|')).map(([table, bytes]) => [table, Number(bytes)]),
      );
      return { all: Object.values(tables).reduce((sum, bytes) => sum + bytes, 0), tables };
    },
    /** Starts the database too, unless it is running. */
    start: async () => {
      database ??= await startPostgres(bin, folder);
      const running = database;
      return startApi(['postgres', running.socketFolder, running.user], {
        ...{ pids: running.pids, cpuMs: running.cpuMs },
        stop: async () => {
          database = undefined;
          await running.stop();
        },
      });
    },
    close: async () => database?.stop(),
  };
}

const SQLITE_TYPES = { bytes: 'BLOB', number: 'INTEGER', text: 'TEXT', decimal: 'TEXT' };

/** node:sqlite; `undefined` if this Node has none. @param {string} folder an empty one */
export async function sqliteSide(folder) {
  const { DatabaseSync } = await import('node:sqlite').catch(() => ({}));
  if (DatabaseSync === undefined) return undefined;
  const file = join(folder, 'ledger.sqlite');
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  return {
    name: 'SQLite',
    commit: async (files, versions, mostVersions) => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      const database = new DatabaseSync(file);
      // Each commit is on disk before the next one, as on all sides.
      database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-1000000');
      for (const statement of schema(SQLITE_TYPES)) {
        // Tables are clustered by key, except those whose key is the row number.
        const isRowid = /^CREATE TABLE (?:transactions|assets) /.test(statement);
        database.exec(isRowid ? statement : `${statement} WITHOUT ROWID`);
      }
      const inserts = Object.fromEntries(
        Object.entries(TABLES).map(([table, { columns }]) => {
          const places = Object.keys(columns).map(() => '?');
          return [table, database.prepare(`INSERT INTO ${table} VALUES (${places.join(',')})`)];
        }),
      );
      const load = (rows) => {
        database.exec('BEGIN');
        for (const [table, values] of Object.entries(rows)) {
          for (const row of values) inserts[table].run(...row);
        }
        database.exec('COMMIT');
      };
      load(bytesOfRows(files.genesis()));
      const committed = await timedLoad({
        ...{ files, versions, mostVersions, cpuMs, prepare: bytesOfRows, load },
      });
      database.exec('PRAGMA wal_checkpoint(TRUNCATE); ANALYZE');
      database.close();
      return committed;
    },
    bytes: () => ({ all: folderBytes(folder) }),
    start: () => startApi(['sqlite', file]),
    close: async () => undefined,
  };
}

function bytesOfRows(rows) {
  return Object.fromEntries(
    Object.entries(rows).map(([table, values]) => {
      const types = Object.values(TABLES[table].columns);
      const value = (part, at) => (types[at] === 'bytes' ? Buffer.from(part, 'hex') : part);
      return [table, values.map((row) => row.map(value))];
    }),
  );
}
