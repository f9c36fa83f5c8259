// The indexer: its rate, its start and its memory, and the time of a wallet's first screen, with few rows and with a
// million rows in each table that the screen queries. On PGlite and on a PostgreSQL server.
import { join } from 'node:path';
import { Aptos, AptosConfig, Network } from '@aptos-labs/ts-sdk';
import { PGlite } from '@electric-sql/pglite';
import { startChild } from './child.mjs';
import { PROGRAM, runCommand, temporaryFolder } from './ledgers.mjs';
import { findPostgres, startPostgres } from './postgres-server.mjs';
import { anonymousBytes } from './process-figures.mjs';
import { shown, shownSummary, summary } from './statistics.mjs';

export const name = 'indexer';
export const title = 'Indexer: rate, first screen of a wallet, start, memory';

const TRANSACTIONS = Number(process.env.BENCH_INDEXED ?? 20_000);
/** Rows added to each table that the screen queries, beside those of the ledger. */
const MANY_ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
/** Rows of the account whose screen is shown. */
const OWN_ROWS = 1_000;
const SHOWN = 100;
const SCREENS = 20;
const MIB = 2 ** 20;
/** Versions of the added rows start here, above those of the ledger. */
const FIRST_OTHER = 1_000_000_000;
const OWNER = `0x${'7'.repeat(64)}`;

const ADDRESS = (number) => `'0x' || lpad(to_hex(${number}), 64, '0')`;
/** One row in a thousand belongs to the account, until it has enough; with few rows, all do. */
const OWNER_OF = (rows) =>
  `CASE WHEN n % ${Math.floor(rows / OWN_ROWS)} = 0 THEN '${OWNER}' ELSE ${ADDRESS('n % 50000')} END`;
const TIME = `timestamp '2026-01-01' + n * interval '1 second'`;

/** Rows of balances, tokens and activities, with the rows that are joined to them. */
function fillings(rows) {
  const each = `generate_series(1, ${rows}) AS n`;
  const owner = OWNER_OF(rows);
  return [
    `INSERT INTO fungible_asset_metadata (asset_type, creator_address, decimals, name, symbol, icon_uri, project_uri,
      token_standard, last_transaction_version, last_transaction_timestamp)
      SELECT ${ADDRESS('n + 3000000')}, '${OWNER}', 8, 'Asset ' || n, 'A', '', '', 'v2', ${FIRST_OTHER}, ${TIME}
      FROM generate_series(0, ${OWN_ROWS}) AS n ON CONFLICT DO NOTHING`,
    `INSERT INTO current_fungible_asset_balances (storage_id, owner_address, is_primary, is_frozen, asset_type_v2,
      amount_v2, last_transaction_version_v2, last_transaction_timestamp_v2)
      SELECT ${ADDRESS('n + 1000000000')}, ${owner}, true, false, ${ADDRESS(`n % ${OWN_ROWS} + 3000000`)}, n,
      ${FIRST_OTHER} + n, ${TIME} FROM ${each} ON CONFLICT DO NOTHING`,
    `INSERT INTO current_collections_v2 (collection_id, creator_address, collection_name, description, uri,
      current_supply, token_standard, last_transaction_version, last_transaction_timestamp)
      SELECT ${ADDRESS('n + 2000000')}, '${OWNER}', 'Collection ' || n, 'Many tokens', 'https://example.org/' || n,
      1, 'v2', ${FIRST_OTHER}, ${TIME} FROM generate_series(0, 99) AS n ON CONFLICT DO NOTHING`,
    `INSERT INTO current_token_datas_v2 (token_data_id, collection_id, token_name, token_uri, description,
      token_properties, token_standard, is_fungible_v2, is_deleted_v2, last_transaction_version, last_transaction_timestamp)
      SELECT ${ADDRESS('n + 2000000000')}, ${ADDRESS('n % 100 + 2000000')}, 'Token ' || n, 'https://example.org/t' || n,
      'A token', '{"level": "7"}', 'v2', false, false, ${FIRST_OTHER}, ${TIME} FROM ${each} ON CONFLICT DO NOTHING`,
    `INSERT INTO current_token_ownerships_v2 (token_data_id, property_version_v1, owner_address, storage_id, amount,
      token_standard, is_fungible_v2, is_soulbound_v2, last_transaction_version, last_transaction_timestamp)
      SELECT ${ADDRESS('n + 2000000000')}, 0, ${owner}, ${ADDRESS('n + 2000000000')}, 1, 'v2', false, false,
      ${FIRST_OTHER} + n, ${TIME} FROM ${each} ON CONFLICT DO NOTHING`,
    `INSERT INTO fungible_asset_activities (transaction_version, event_index, type, storage_id, owner_address, asset_type,
      token_standard, amount, transaction_timestamp, block_height, is_transaction_success, is_gas_fee, storage_refund_amount)
      SELECT ${FIRST_OTHER} + n, 0, '0x1::fungible_asset::Deposit', ${ADDRESS('n % 100000 + 1000000000')}, ${owner},
      ${ADDRESS(`n % ${OWN_ROWS} + 3000000`)}, 'v2', n, ${TIME}, n, true, false, 0 FROM ${each} ON CONFLICT DO NOTHING`,
  ];
}

/** Deletes the ledger's rows from the tables, but keeps the added rows. */
const FORGET_LEDGER = `DO $$ DECLARE t record; BEGIN
  FOR t IN SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = current_schema AND column_name IN ('transaction_version', 'version')
    AND table_name NOT LIKE '%view%' AND table_name NOT IN ('delegator_distinct_pool', 'num_active_delegator_per_pool')
  LOOP EXECUTE format('DELETE FROM %I WHERE %I < ${FIRST_OTHER}', t.table_name, t.column_name); END LOOP; END $$;
  UPDATE daybook_progress SET next_version = first_version, last_root = NULL`;

/** PGlite in a folder. This process opens it only while no other process has it open. */
function embedded(folder) {
  const location = join(folder, 'tables');
  const run = async (statements) => {
    const database = await PGlite.create(join(location, 'tables'));
    await database.exec('SET search_path TO indexer');
    for (const statement of statements) await database.exec(statement);
    await database.close();
  };
  return { location, run, cpuMs: () => 0, stop: async () => undefined };
}

async function server(folder, bin) {
  const postgres = await startPostgres(bin, folder);
  const location = `postgres://${postgres.user}@localhost/postgres?host=${postgres.socketFolder}`;
  const run = async (statements) => {
    for (const statement of statements) {
      postgres.query(`SET search_path TO daybook_indexer; ${statement}`);
    }
  };
  return { location, run, cpuMs: postgres.cpuMs, stop: postgres.stop };
}

async function indexed(data, { location, cpuMs }, remake) {
  const args = ['index', '--data', data, '--indexer', location, '--json'];
  const beforeMs = cpuMs();
  const run = await runCommand([...args, ...(remake ? ['--remake'] : [])]);
  const { report, processorSeconds, peakAnonymousBytes } = run;
  const { indexed_versions: versions, seconds } = report;
  return {
    rate: versions / seconds,
    processorUs: (processorSeconds * 1e6 + (cpuMs() - beforeMs) * 1e3) / versions,
    peakAnonymousBytes,
  };
}

/** The queries of a wallet on start-up, with the SDK's own documents. */
function screenOf(url) {
  const aptos = new Aptos(
    new AptosConfig({ network: Network.CUSTOM, fullnode: url, indexer: url }),
  );
  const options = { limit: SHOWN };
  return async () => {
    const [coins, tokens, activities] = await Promise.all([
      aptos.getAccountCoinsData({ accountAddress: OWNER, options }),
      aptos.getAccountOwnedTokens({ accountAddress: OWNER, options }),
      aptos.getFungibleAssetActivities({
        options: {
          ...options,
          where: { owner_address: { _eq: OWNER } },
          orderBy: [{ transaction_version: 'desc' }],
        },
      }),
    ]);
    for (const shown of [coins, tokens, activities]) {
      if (shown.length !== SHOWN) throw new Error(`a screen has ${shown.length} rows`);
    }
  };
}

async function served(data, location) {
  const args = [
    '--data',
    data,
    '--listen',
    '127.0.0.1:0',
    '--workers',
    '1',
    '--log-level',
    'error',
  ];
  const asked = ['--indexer', location, '--indexer-listen', '127.0.0.1:0'];
  const startedMs = performance.now();
  const node = await startChild([PROGRAM, 'serve', ...args, ...asked]);
  try {
    const screen = screenOf(node.ready.indexer_url);
    const times = [];
    await screen();
    const firstMs = performance.now() - startedMs;
    for (let nth = 0; nth < SCREENS; nth += 1) {
      const askedMs = performance.now();
      await screen();
      times.push(performance.now() - askedMs);
    }
    return { screenMs: summary(times), firstMs, memoryBytes: anonymousBytes(node.pid) };
  } finally {
    await node.stop();
  }
}

async function measure(data, engine, rounds, log) {
  const rates = [];
  for (let round = 0; round < rounds; round += 1) {
    rates.push(await indexed(data, engine, true));
  }
  const rate = summary(rates.map((one) => one.rate));
  const indexingBytes = Math.max(...rates.map((one) => one.peakAnonymousBytes));
  const processorUs = summary(rates.map((one) => one.processorUs));
  log(
    `  ${shownSummary(rate)} transactions/s, ${shownSummary(processorUs)} µs of processors for each, ` +
      `${Math.round(indexingBytes / MIB)} MiB`,
  );
  await engine.run([...fillings(OWN_ROWS), 'ANALYZE']);
  const few = await served(data, engine.location);
  log(`  screen ${shownSummary(few.screenMs)} ms, first after ${Math.round(few.firstMs)} ms`);
  await engine.run([...fillings(MANY_ROWS), 'ANALYZE']);
  const many = await served(data, engine.location);
  log(`  with ${MANY_ROWS} rows: screen ${shownSummary(many.screenMs)} ms`);
  await engine.run([FORGET_LEDGER]);
  const again = await indexed(data, engine, false);
  log(
    `  with ${MANY_ROWS} rows: ${shown(again.rate)} transactions/s, ${shown(again.processorUs)} µs for each`,
  );
  return { rate, processorUs, indexingBytes, few, many, again };
}

/** A local network before and after the first request to its indexer. */
async function localNetwork(log) {
  const ports = ['listen', 'faucet-listen', 'indexer-listen'].flatMap((flag) => [
    ...[`--${flag}`, '127.0.0.1:0'],
  ]);
  const node = await startChild([PROGRAM, 'localnet', '--json', '--ready-listen', '', ...ports]);
  try {
    const before = anonymousBytes(node.pid);
    const askedMs = performance.now();
    const query = '{processor_status(limit: 1) {last_success_version}}';
    const body = JSON.stringify({ query });
    const response = await fetch(node.ready.indexer_url, { method: 'POST', body });
    await response.text();
    const firstMs = performance.now() - askedMs;
    const after = anonymousBytes(node.pid);
    log(
      `local network: ${Math.round(before / MIB)} MiB, with its indexer ${Math.round(after / MIB)} MiB, ` +
        `whose first answer takes ${Math.round(firstMs)} ms`,
    );
    return { before, after, firstMs };
  } finally {
    await node.stop();
  }
}

export async function run({ rounds, log }) {
  const folder = temporaryFolder();
  const data = join(folder, 'ledger');
  await runCommand(['sample', '--data', data, '--transactions', String(TRANSACTIONS)]);
  const { bin, missing } = findPostgres();
  if (missing !== undefined) log(`without a server: ${missing}`);
  const engines = {
    PGlite: async () => embedded(folder),
    ...(bin !== undefined && { PostgreSQL: () => server(folder, bin) }),
  };
  const found = { localNetwork: await localNetwork(log) };
  for (const [engine, open] of Object.entries(engines)) {
    log(`${engine}:`);
    const opened = await open();
    try {
      found[engine] = await measure(data, opened, rounds, log);
    } finally {
      await opened.stop();
    }
  }
  return found;
}
