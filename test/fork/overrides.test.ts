/** Overrides of a fork: what requests return, what is never changed, and how they are reverted. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ForkedNode, OverrideError, startNode } from '../../src/index.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { packFork } from '../../src/node/fork-pack.ts';
import { openView } from '../../src/store/read/view.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { serveStore, temporaryFolder } from './forked-nodes.ts';

const HEADER = 'x-node-overridden';
const APT = '0x1::aptos_coin::AptosCoin';
const U64_MAX = 0xffff_ffff_ffff_ffffn;

/** A response, without the headers of the connection. */
async function ask(node: ForkedNode, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(node.url + path, { headers });
  return {
    status: response.status,
    body: Buffer.from(await response.arrayBuffer()),
    isOverridden: response.headers.get(HEADER) === 'true',
    etag: response.headers.get('etag'),
    cacheControl: response.headers.get('cache-control'),
    cursor: response.headers.get('x-node-cursor') ?? undefined,
  };
}

async function json<T>(node: ForkedNode, path: string): Promise<T> {
  return JSON.parse((await ask(node, path)).body.toString()) as T;
}

const BCS = { accept: 'application/x-bcs' };

/** Tests on a sample ledger, with a new fork for each test. */
describe('overrides', () => {
  const ledger = sampleStore(300);
  let publisher = '';
  let holder = '';

  beforeAll(async () => {
    const view = await openView(await ledger);
    const items = await view.transactions(0n, Number(view.head.version) + 1);
    expect(items.length).toBeGreaterThan(100);
  });

  async function fork(): Promise<{ node: ForkedNode; data: string; upstream: string }> {
    const upstream = await serveStore(await ledger);
    const data = join(temporaryFolder(), 'fork');
    const node = await startNode({ data, fork: upstream.url });
    onTestFinished(() => node.stop());
    if (publisher === '') {
      const all = await json<{ type: string; sender?: string; payload?: { function?: string } }[]>(
        node,
        '/transactions?start=1&limit=100',
      );
      const calls = all.filter(({ payload }) => payload?.function?.includes('::ticker::') === true);
      publisher = calls[0]!.payload!.function!.split('::')[0]!;
      holder = all.find(({ sender }) => sender !== undefined && sender !== publisher)!.sender!;
    }
    return { node, data, upstream: upstream.url };
  }

  const balanceOf = (account: string, asset = APT) => `/accounts/${account}/balance/${asset}`;

  it('set the balance of a coin and of a fungible asset, of accounts that have it or not', async () => {
    const { node } = await fork();
    const nobody = '0xdecaf';
    for (const account of [holder, publisher, nobody]) {
      for (const asset of [APT, '0xa', '0x1::nothing::Nothing', '0xfeed']) {
        for (const amount of [0n, 1n, 123_456_789n, U64_MAX]) {
          await node.overrides.setBalance(account, asset, amount);
          const { body, isOverridden } = await ask(node, balanceOf(account, asset));
          // A coin and its paired asset count together.
          expect([account, asset, body.toString()]).toEqual([account, asset, `${amount}`]);
          expect(isOverridden).toBe(true);
        }
      }
    }
    const listed = await json<{ asset_type: string; amount: string }[]>(
      node,
      `/accounts/${nobody}/balances`,
    );
    expect(listed.map(({ amount }) => amount)).toEqual([`${U64_MAX}`, `${U64_MAX}`, `${U64_MAX}`]);
    const untouched = await ask(node, balanceOf('0x1'));
    expect(untouched.isOverridden).toBe(false);
  });

  it('refuse what no ledger could have', async () => {
    const { node } = await fork();
    const { overrides } = node;
    const value = (await ask(node, `/accounts/${holder}/resource/0x1::account::Account`, BCS)).body;
    const coin = (await ask(node, '/accounts/0x1/module/coin', BCS)).body;
    const event = { type: 'u64', data: Buffer.alloc(7) };
    const refused = [
      () => overrides.setBalance(holder, APT, U64_MAX + 1n),
      () => overrides.setBalance(holder, APT, -1n),
      () => overrides.setBalance('0xzz', APT, 1n),
      () => overrides.setBalance(holder, '0x1::', 1n),
      () => overrides.setBalance(holder, APT, 1 as unknown as bigint),
      () => overrides.setResource(holder, '0x1::account::Account', value.subarray(1)),
      () => overrides.setResource(holder, '0x1::account::Account', Buffer.concat([value, value])),
      () => overrides.setResource(holder, '0x1::account::Nothing', value),
      () => overrides.setResource(holder, '0x1::nothing::Nothing', value),
      () => overrides.setResource(holder, 'u8', value),
      () => overrides.deleteResource('', '0x1::account::Account'),
      () => overrides.setModule(Buffer.alloc(0)),
      () => overrides.setModule(coin.subarray(0, -1)),
      () => overrides.setModule(Buffer.from(coin).fill(0xff, 8, 24)),
      () => overrides.appendEvents(holder, -1n, [event]),
      () => overrides.appendEvents(holder, U64_MAX + 1n, [event]),
      () => overrides.appendEvents(holder, 5n, [event]),
      () => overrides.appendEvents(holder, 5n, [{ type: 'u65', data: Buffer.alloc(8) }]),
    ];
    for (const refuse of refused) {
      const failure = await refuse().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure, String(refuse)).toBeInstanceOf(OverrideError);
      expect(failure).toMatchObject({ code: 'bad_override' });
    }
    expect((await ask(node, balanceOf(holder))).isOverridden).toBe(false);
    const { overrides: others } = (await fork()).node;
    expect(() => overrides.revert(others.snapshot())).toThrow(RangeError);
  });

  it('set and delete resources, in groups too', async () => {
    const { node } = await fork();
    const account = `/accounts/${holder}/resource/0x1::account::Account`;
    const before = await ask(node, account, BCS);
    const changed = Buffer.from(before.body);
    // The sequence number follows the authentication key: a length and 32 bytes.
    changed.writeBigUInt64LE(777n, 33);
    await node.overrides.setResource(holder, '0x1::account::Account', changed);
    expect((await ask(node, account, BCS)).body).toEqual(changed);
    expect(await json(node, account)).toMatchObject({ data: { sequence_number: '777' } });
    expect(await json(node, `/accounts/${holder}`)).toMatchObject({ sequence_number: '777' });
    await node.overrides.deleteResource(holder, '0x1::account::Account');
    const gone = await ask(node, account);
    expect([gone.status, gone.isOverridden]).toEqual([404, true]);
    const metadata = '/accounts/0xa/resource/0x1::fungible_asset::Metadata';
    const core = '/accounts/0xa/resource/0x1::object::ObjectCore';
    const member = await ask(node, metadata, BCS);
    const other = await ask(node, core, BCS);
    expect([member.status, member.isOverridden]).toEqual([200, false]);
    await node.overrides.deleteResource('0xa', '0x1::fungible_asset::Metadata');
    expect((await ask(node, metadata)).status).toBe(404);
    expect((await ask(node, core, BCS)).body).toEqual(other.body);
    await node.overrides.setResource('0xabc', '0x1::fungible_asset::Metadata', member.body);
    const moved = await ask(node, '/accounts/0xabc/resource/0x1::fungible_asset::Metadata', BCS);
    expect([moved.status, moved.isOverridden]).toEqual([200, true]);
    expect(moved.body).toEqual(member.body);
    await node.overrides.deleteResource('0xabc', '0x1::fungible_asset::Metadata');
    expect((await json<unknown[]>(node, '/accounts/0xabc/resources')).length).toBe(0);
  });

  it('show at the version of the fork, and nowhere below it', async () => {
    const { node } = await fork();
    const now = node.ledgerVersion;
    const at = (version: bigint) => `${balanceOf(holder)}?ledger_version=${version}`;
    const before = await ask(node, at(now - 1n));
    const pinned = await ask(node, at(now));
    await node.overrides.setBalance(holder, APT, 42n);
    expect((await ask(node, at(now))).body.toString()).toBe('42');
    expect(await ask(node, at(now - 1n))).toEqual(before);
    // Clients must not cache for good what a test changes.
    for (const { cacheControl } of [before, pinned]) expect(cacheControl).toBeNull();
  });

  it('are marked in every kind of answer, and cached by none', async () => {
    const { node } = await fork();
    const path = balanceOf(holder);
    const tagged = await ask(node, path);
    await node.overrides.setBalance(holder, APT, 42n);
    const changed = await ask(node, path, { 'if-none-match': tagged.etag! });
    expect([changed.status, changed.body.toString()]).toEqual([200, '42']);
    const same = await ask(node, path, { 'if-none-match': changed.etag! });
    expect([same.status, same.isOverridden]).toEqual([304, true]);
    expect((await ask(node, path, BCS)).body.readBigUInt64LE()).toBe(42n);
    const view = await fetch(`${node.url}/view`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        function: '0x1::coin::balance',
        type_arguments: [APT],
        arguments: [holder],
      }),
    });
    expect([await view.json(), view.headers.get(HEADER)]).toEqual([['42'], 'true']);
    const snapshot = node.overrides.snapshot();
    const encode = async () => {
      const payload = { type: 'entry_function_payload', type_arguments: [] };
      const request = {
        sender: holder,
        ...{ sequence_number: '0', max_gas_amount: '2000', gas_unit_price: '100' },
        expiration_timestamp_secs: '1893456000',
        payload: { ...payload, function: '0x1::aptos_account::transfer', arguments: ['0x1', '1'] },
      };
      const response = await fetch(`${node.url}/transactions/encode_submission`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
      return [response.status, response.headers.get(HEADER)];
    };
    expect(await encode()).toEqual([200, null]);
    const module = (await ask(node, '/accounts/0x1/module/aptos_account', BCS)).body;
    const renamed = module.toString('latin1').replaceAll('\x08transfer', '\x08transfex');
    await node.overrides.setModule(Buffer.from(renamed, 'latin1'));
    expect(await encode()).toEqual([400, 'true']);
    node.overrides.revert(snapshot);
    expect(await encode()).toEqual([200, null]);
  });

  it('page through listings in which they are', async () => {
    const { node } = await fork();
    const whole = async (kind: string) => {
      const names: string[] = [];
      let start: string | undefined;
      do {
        const query = `?limit=3${start === undefined ? '' : `&start=${start}`}`;
        const page = await ask(node, `/accounts/${publisher}/${kind}${query}`);
        expect(page.status).toBe(200);
        for (const { type, abi } of JSON.parse(page.body.toString())) names.push(type ?? abi.name);
        start = page.cursor;
      } while (start !== undefined);
      return names;
    };
    const resources = await whole('resources');
    const modules = await whole('modules');
    const info = await ask(node, `/accounts/0x1/resource/0x1::coin::CoinInfo<${APT}>`, BCS);
    expect(info.status).toBe(200);
    const known = ['account::Account', 'object::ObjectCore', 'fungible_asset::FungibleStore'];
    const coins = [...known.map((name) => `0x1::${name}`), `${publisher}::ticker::Tick`];
    const added = coins.map((coin) => `0x1::coin::CoinInfo<${coin}>`);
    for (const type of added) await node.overrides.setResource(publisher, type, info.body);
    await node.overrides.deleteResource(publisher, '0x1::account::Account');
    const expected = [...resources, ...added].filter((type) => type !== '0x1::account::Account');
    const listed = await whole('resources');
    expect([...listed].sort()).toEqual(expected.sort());
    const all = await json<{ type: string }[]>(node, `/accounts/${publisher}/resources?limit=9999`);
    expect(listed).toEqual(all.map(({ type }) => type));
    expect(await whole('modules')).toEqual(modules);
    const page = await ask(node, `/accounts/${publisher}/modules`);
    expect(page.isOverridden).toBe(false);
    const empty = await ask(node, '/accounts/0xdecaf/balances');
    await node.overrides.setBalance('0xdecaf', APT, 5n);
    const one = await ask(node, '/accounts/0xdecaf/balances');
    expect([empty.body.toString(), empty.isOverridden]).toEqual(['[]', false]);
    expect([one.isOverridden, one.etag === empty.etag]).toEqual([true, false]);
  });

  it('append events, and page through them', async () => {
    const { node } = await fork();
    const stream = `/accounts/${publisher}/events/2`;
    const of = (query: string) => json<{ sequence_number: string }[]>(node, stream + query);
    const numbers = async (query: string) =>
      (await of(query)).map(({ sequence_number: number }) => Number(number));
    const [newest] = await of('?limit=1');
    const last = Number(newest!.sequence_number);
    expect(last).toBeGreaterThan(5);
    const page = await ask(node, `${stream}?start=${last - 2}&limit=3`);
    const tail = await ask(node, `${stream}?start=${last - 2}&limit=10`);
    const count = { type: 'u64', data: encodeBcs((writer) => writer.u64(99n)) };
    const snapshot = node.overrides.snapshot();
    const start = last + 1;
    await node.overrides.appendEvents(publisher, 2n, [count, count, count]);
    await node.overrides.appendEvents(publisher, 2n, [count]);
    expect(await numbers('?limit=2')).toEqual([start + 2, start + 3]);
    expect(await numbers(`?start=${start - 1}&limit=2`)).toEqual([start - 1, start]);
    expect(await numbers(`?start=${start + 1}&limit=100`)).toEqual([
      start + 1,
      start + 2,
      start + 3,
    ]);
    expect(await numbers(`?start=${start + 4}&limit=100`)).toEqual([]);
    expect(await of(`?start=${start + 3}`)).toMatchObject([
      { version: String(node.ledgerVersion), type: 'u64', data: '99' },
    ]);
    // A page of only the ledger's events is unchanged.
    expect(await ask(node, `${stream}?start=${last - 2}&limit=3`)).toEqual(page);
    node.overrides.revert(snapshot);
    const other = { type: 'bool', data: Buffer.of(1) };
    await node.overrides.appendEvents(publisher, 2n, [other]);
    expect(await of(`?start=${start}`)).toMatchObject([{ type: 'bool', data: true }]);
    node.overrides.revert(snapshot);
    expect(await ask(node, `${stream}?start=${last - 2}&limit=10`)).toEqual(tail);
    await node.overrides.appendEvents('0xdecaf', 7n, [other]);
    const ofNew = await ask(node, '/accounts/0xdecaf/events/7');
    expect([ofNew.isOverridden, JSON.parse(ofNew.body.toString()).length]).toEqual([true, 1]);
  });

  it('replace a module for all that follows from it, and nothing stays of it', async () => {
    const { node } = await fork();
    const resource = `/accounts/${holder}/resource/0x1::account::Account`;
    const paths = [
      '/accounts/0x1/module/account',
      resource,
      `/accounts/${holder}/resources`,
      `/accounts/${publisher}/events/2?limit=3`,
      '/transactions?start=20&limit=10',
      '/transactions/by_version/20',
    ];
    const all = () => Promise.all(paths.map((path) => ask(node, path)));
    const before = await all();
    const bytecode = (await ask(node, paths[0]!, BCS)).body;
    // Renames a field to a name of the same length.
    const renamed = Buffer.from(
      bytecode.toString('latin1').replaceAll('sequence_number', 'sequence_numbex'),
      'latin1',
    );
    expect(renamed).not.toEqual(bytecode);
    const snapshot = node.overrides.snapshot();
    for (let round = 0; round < 2; round += 1) {
      await node.overrides.setModule(renamed);
      const during = await all();
      expect(during[0]!.body.toString()).toContain(formatHex(renamed).slice(2));
      expect(during[1]!.body.toString()).toContain('"sequence_numbex"');
      expect(during[2]!.body.toString()).toContain('"sequence_numbex"');
      for (const index of [0, 1, 2]) {
        expect(during[index]!.isOverridden).toBe(true);
        expect(during[index]!.etag).not.toBe(before[index]!.etag);
      }
      // The history uses the modules of its time.
      for (const index of [4, 5]) expect(during[index]!.body).toEqual(before[index]!.body);
      await node.overrides.setBalance(holder, APT, 1n);
      expect((await ask(node, resource)).body).toEqual(during[1]!.body);
      node.overrides.revert(snapshot);
      expect(await all()).toEqual(before);
    }
  });

  it('are taken back to any snapshot, again and again', async () => {
    const { node } = await fork();
    const shown = async () => (await ask(node, balanceOf(holder))).body.toString();
    const original = await shown();
    const snapshots = [node.overrides.snapshot()];
    for (const amount of [10n, 20n, 30n]) {
      await node.overrides.setBalance(holder, APT, amount);
      snapshots.push(node.overrides.snapshot());
    }
    for (const index of [2, 0, 3, 1, 1, 3]) {
      node.overrides.revert(snapshots[index]!);
      expect(await shown()).toBe(index === 0 ? original : `${index * 10}`);
      await node.overrides.setBalance(holder, APT, 5n);
      expect(await shown()).toBe('5');
    }
  });

  it('are one state for a request, whatever is changed and taken back meanwhile', async () => {
    const { node } = await fork();
    const empty = node.overrides.snapshot();
    const accounts = Array.from({ length: 30 }, (_, index) => `0xabc${index}`);
    const listed = '/accounts/0xdecaf/balances';
    await node.overrides.setBalance('0xdecaf', APT, 1n);
    const snapshot = node.overrides.snapshot();
    const held = (await ask(node, listed)).body.toString();
    const asked = Array.from({ length: 60 }, async (_, index) => {
      const answer = await ask(node, index % 2 === 0 ? listed : balanceOf('0xdecaf'));
      return [index, answer.body.toString(), answer.isOverridden] as const;
    });
    const set = accounts.map((account) => node.overrides.setBalance(account, APT, 7n));
    node.overrides.revert(empty);
    node.overrides.revert(snapshot);
    await Promise.all(set);
    node.overrides.revert(snapshot);
    for (const [index, body, isOverridden] of await Promise.all(asked)) {
      expect(isOverridden).toBe(body !== '[]' && body !== '0');
      expect(['[]', '0', '1', held]).toContain(body);
      expect(index).toBeLessThan(60);
    }
    for (const account of accounts) {
      expect((await ask(node, balanceOf(account))).body.toString()).toBe('0');
    }
  });

  it('that are made at the same time all count', async () => {
    const { node } = await fork();
    const metadata = ['0xf1', '0xf2', '0xf3', '0xf4'];
    await Promise.all(
      metadata.map((asset, index) => node.overrides.setBalance(holder, asset, BigInt(index + 1))),
    );
    for (const [index, asset] of metadata.entries()) {
      expect((await ask(node, balanceOf(holder, asset))).body.toString()).toBe(`${index + 1}`);
    }
    const event = { type: 'bool', data: Buffer.of(1) };
    await Promise.all(metadata.map(() => node.overrides.appendEvents('0xdecaf', 9n, [event])));
    const events = await json<{ sequence_number: string }[]>(node, '/accounts/0xdecaf/events/9');
    expect(events.map(({ sequence_number: number }) => number)).toEqual(['0', '1', '2', '3']);
  });

  it('are neither recorded nor packed, and are of one node', async () => {
    const { node, data } = await fork();
    const path = balanceOf(holder);
    const recorded = (await ask(node, path)).body.toString();
    await ask(node, '/accounts/0x1/module/coin');
    await ask(node, '/accounts/0x1/module/coin', BCS);
    await node.overrides.setBalance(holder, APT, 1n);
    await node.overrides.deleteResource(holder, '0x1::account::Account');
    const folder = temporaryFolder();
    await packFork(data, join(folder, 'fork.pack'));
    await node.stop();
    const settings = { offline: true } as const;
    const [first, second] = await Promise.all([
      startNode({ data, settings }),
      startNode({ data, settings }),
    ]);
    onTestFinished(() => first.stop());
    onTestFinished(() => second.stop());
    await first.overrides.setBalance(holder, APT, 3n);
    expect((await ask(first, path)).body.toString()).toBe('3');
    expect(await ask(second, path)).toMatchObject({ isOverridden: false });
    expect((await ask(second, path)).body.toString()).toBe(recorded);
    // Offline, anything not recorded is unknown.
    const missed = second.overrides.setBalance('0xabcdef', APT, 3n);
    await expect(missed).rejects.toMatchObject({ code: 'fork_not_recorded' });
    const packed = await startNode({ fork: { pack: join(folder, 'fork.pack') } });
    onTestFinished(() => packed.stop());
    expect((await ask(packed, path)).body.toString()).toBe(recorded);
    await packed.overrides.setBalance(holder, APT, 4n);
    expect((await ask(packed, path)).body.toString()).toBe('4');
  });
});
