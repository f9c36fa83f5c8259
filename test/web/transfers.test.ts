/** The page's list of transfers, page after page, over the indexer's tables. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import { answerBody } from '../../src/indexer/graphql/answer.ts';
import {
  TRANSFERS_QUERY,
  type TransfersAnswer,
  transfersPage,
} from '../../web/src/assets/transfers.ts';
import { openTables, type Row } from '../indexer/dialect/random-rows.ts';

const ASSET = '0xa';
const LIMIT = 25;

/** Number of rows of each version; version 7 fills more than a page. */
const EVENTS = { '9': 3, '8': 22, '7': 80, '6': 1, '5': 25 } as const;

function activity(version: string, event: number): Row {
  return {
    ...{ transaction_version: version, event_index: String(event), block_height: '1' },
    ...{ asset_type: ASSET, amount: '1', owner_address: '0x1', storage_id: '0x2' },
    ...{ is_gas_fee: String(event < 0), is_transaction_success: 'true', token_standard: 'v2' },
    ...{ storage_refund_amount: '0', type: '0x1::fungible_asset::Withdraw' },
    transaction_timestamp: '2026-01-01T00:00:00',
  };
}

const VERSIONS = Object.entries(EVENTS).sort(([a], [b]) => Number(b) - Number(a));
let database: Database;

beforeAll(async () => {
  const rows = VERSIONS.flatMap(([version, events]) =>
    // The first is the fee, which is not in the list.
    Array.from({ length: events + 1 }, (_, at) => activity(version, at - 1)),
  );
  database = await openTables(new Map([['fungible_asset_activities', rows]]));
});
afterAll(() => database.close());

it('every row is on one page, also where a page ends inside a transaction', async () => {
  const found: string[] = [];
  const starts: string[] = [];
  let next: { before?: bigint; event?: bigint } = {};
  for (;;) {
    const { before, event } = next;
    starts.push(`${before} ${event}`);
    const variables = transfersPage({ assets: [ASSET], before, event, limit: LIMIT });
    const body = JSON.stringify({ query: TRANSFERS_QUERY, variables });
    const answer = await answerBody(Buffer.from(body), async () => database);
    const { data } = JSON.parse(String(answer)) as { data: TransfersAnswer };
    const rows = data.fungible_asset_activities;
    found.push(...rows.map((one) => `${one.transaction_version} ${one.event_index}`));
    const last = rows.at(-1);
    if (rows.length < LIMIT) break;
    next = {
      before: BigInt(String(last!.transaction_version)),
      event: BigInt(String(last!.event_index)),
    };
  }
  expect(found).toEqual(
    VERSIONS.flatMap(([version, events]) =>
      Array.from({ length: events }, (_, event) => `${version} ${event}`),
    ),
  );
  expect(starts.slice(0, 4)).toEqual(['undefined undefined', '8 21', '7 24', '7 49']);
});

it('a page that begins below a version has none of its rows', async () => {
  const variables = transfersPage({
    assets: [ASSET],
    ...{ before: 7n, event: undefined, limit: LIMIT },
  });
  const body = JSON.stringify({ query: TRANSFERS_QUERY, variables });
  const answer = String(await answerBody(Buffer.from(body), async () => database));
  const { data } = JSON.parse(answer) as { data: TransfersAnswer };
  const [first] = data.fungible_asset_activities;
  expect(first).toMatchObject({ transaction_version: 6, event_index: 0 });
});
