// A typical server over such tables: fastify, with one prepared query per request. Started as a child: node api.mjs
// postgres SOCKET_FOLDER USER, or node api.mjs sqlite FILE. Prints {"url":…} when it listens on loopback.
import fastify from 'fastify';

const QUERIES = {
  balance: `SELECT amount FROM balances WHERE owner = $1 AND asset = $2
    ORDER BY version DESC LIMIT 1`,
  balanceAt: `SELECT amount FROM balances WHERE owner = $1 AND asset = $2 AND version <= $3
    ORDER BY version DESC LIMIT 1`,
  events: `SELECT sequence_number, version, type, data FROM events
    WHERE account = $1 AND creation_number = $2 ORDER BY sequence_number DESC LIMIT $3`,
  module: `SELECT answer FROM modules WHERE account = $1 AND name = $2
    ORDER BY version DESC LIMIT 1`,
  transaction: 'SELECT answer FROM transactions WHERE version = $1',
};

/** @returns {Promise<{rows: (name: string, values: unknown[]) => any, close: () => any}>} */
async function openPostgres(socketFolder, user) {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ host: socketFolder, user, database: 'postgres' });
  return {
    all: async (text) => (await pool.query(text)).rows,
    rows: async (name, values) => (await pool.query({ name, text: QUERIES[name], values })).rows,
    close: () => pool.end(),
  };
}

async function openSqlite(file) {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { readOnly: true });
  const prepared = Object.fromEntries(
    Object.entries(QUERIES).map(([name, text]) => [
      name,
      database.prepare(text.replaceAll('$', '?')),
    ]),
  );
  return {
    all: (text) => database.prepare(text).all(),
    rows: (name, values) => prepared[name].all(...values),
    close: () => database.close(),
  };
}

const [engine, ...where] = process.argv.slice(2);
const database = await (engine === 'sqlite' ? openSqlite : openPostgres)(...where);
const app = fastify({ logger: false, routerOptions: { maxParamLength: 1_024 } });
const assets = new Map(
  (await database.all('SELECT id, name FROM assets')).map(({ id, name }) => [name, id]),
);

function addressBytes(text) {
  return Buffer.from(text.replace(/^0x/, '').padStart(64, '0'), 'hex');
}

/** Formats an address as the API does: without leading zeros. */
function addressText(bytes) {
  return `0x${bytes.toString('hex').replace(/^0{1,63}/, '')}`;
}

app.get('/v1/accounts/:address/balance/:asset', async ({ params, query }, reply) => {
  reply.type('application/json; charset=utf-8');
  const values = [addressBytes(params.address), assets.get(params.asset)];
  const { ledger_version: version } = query;
  const rows = await (version === undefined
    ? database.rows('balance', values)
    : database.rows('balanceAt', [...values, Number(version)]));
  return rows.length === 0 ? '0' : rows[0].amount;
});

app.get('/v1/accounts/:address/events/:number', async ({ params, query }, reply) => {
  reply.type('application/json; charset=utf-8');
  const account = addressBytes(params.address);
  const values = [account, Number(params.number), Number(query.limit ?? 100)];
  const rows = await database.rows('events', values);
  const guid = `"guid":{"creation_number":"${params.number}","account_address":"${addressText(account)}"}`;
  const texts = rows.map(
    ({ version, sequence_number: sequenceNumber, type, data }) =>
      `{"version":"${version}",${guid},"sequence_number":"${sequenceNumber}","type":${JSON.stringify(type)},"data":${data}}`,
  );
  return `[${texts.reverse().join(',')}]`;
});

app.get('/v1/accounts/:address/module/:name', async ({ params }, reply) => {
  reply.type('application/json; charset=utf-8');
  const [row] = await database.rows('module', [addressBytes(params.address), params.name]);
  return row.answer;
});

app.get('/v1/transactions/by_version/:version', async ({ params }, reply) => {
  reply.type('application/json; charset=utf-8');
  const [row] = await database.rows('transaction', [Number(params.version)]);
  return row.answer;
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(JSON.stringify({ url }));
process.on('SIGTERM', async () => {
  await app.close();
  await database.close();
});
