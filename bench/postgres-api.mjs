// What one would write over such tables: fastify and pg, one prepared query for each request. Started as a child:
// node postgres-api.mjs SOCKET_FOLDER USER, prints {"url":…} when it listens on loopback.
import fastify from 'fastify';
import pg from 'pg';

const [socketFolder, user] = process.argv.slice(2);
const pool = new pg.Pool({ host: socketFolder, user, database: 'postgres' });
const app = fastify({ logger: false, routerOptions: { maxParamLength: 1_024 } });

const assets = new Map();
for (const { id, metadata, coin } of (await pool.query('SELECT * FROM assets')).rows) {
  assets.set(addressText(metadata), { id, counts: 'fungible' });
  if (coin !== null) assets.set(coin, { id, counts: 'both' });
}

const BALANCE = `SELECT coin, fungible FROM balances WHERE owner = $1 AND asset = $2
  ORDER BY version DESC LIMIT 1`;
const EVENTS = `SELECT sequence_number, version, type, data FROM (
    SELECT * FROM events WHERE account = $1 AND creation_number = $2
    ORDER BY sequence_number DESC LIMIT $3
  ) newest ORDER BY sequence_number`;
const MODULE = `SELECT answer FROM modules WHERE account = $1 AND name = $2
  ORDER BY version DESC LIMIT 1`;

function addressBytes(text) {
  return Buffer.from(text.replace(/^0x/, '').padStart(64, '0'), 'hex');
}

/** As the interface writes it: without leading zeros. */
function addressText(digits) {
  return `0x${digits.replace(/^0{1,63}/, '')}`;
}

app.get('/v1/accounts/:address/balance/:asset', async ({ params }, reply) => {
  reply.type('application/json; charset=utf-8');
  const asset = assets.get(params.asset);
  if (asset === undefined) return '0';
  const values = [addressBytes(params.address), asset.id];
  const { rows } = await pool.query({ name: 'balance', text: BALANCE, values });
  if (rows.length === 0) return '0';
  const { coin, fungible } = rows[0];
  return asset.counts === 'both' ? String(BigInt(coin) + BigInt(fungible)) : fungible;
});

app.get('/v1/accounts/:address/events/:number', async ({ params, query }, reply) => {
  reply.type('application/json; charset=utf-8');
  const account = addressBytes(params.address);
  const values = [account, params.number, query.limit ?? 100];
  const { rows } = await pool.query({ name: 'events', text: EVENTS, values });
  const guid = `"guid":{"creation_number":"${params.number}","account_address":"${addressText(account.toString('hex'))}"}`;
  const texts = rows.map(
    ({ version, sequence_number: sequenceNumber, type, data }) =>
      `{"version":"${version}",${guid},"sequence_number":"${sequenceNumber}","type":${JSON.stringify(type)},"data":${data}}`,
  );
  return `[${texts.join(',')}]`;
});

app.get('/v1/accounts/:address/module/:name', async ({ params }, reply) => {
  reply.type('application/json; charset=utf-8');
  const values = [addressBytes(params.address), params.name];
  const { rows } = await pool.query({ name: 'module', text: MODULE, values });
  return rows[0].answer;
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(JSON.stringify({ url }));
process.on('SIGTERM', async () => {
  await app.close();
  await pool.end();
});
