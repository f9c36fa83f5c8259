/**
 * The official TypeScript SDK, unchanged, with a node that follows another: its pages of resources, modules and an
 * event stream have what the other node has in one response. The SDK caches by the name of the network, so a file can
 * only have one ledger.
 */
import { join } from 'node:path';
import { Aptos, AptosConfig, getAptosFullNode, Network } from '@aptos-labs/ts-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { makeSample, type Stream, streamsOf } from './ledger-contents.ts';
import { until } from './worker-processes.ts';

/** The SDK requires full addresses for users. */

interface Event {
  readonly sequence_number: string;
}

describe('the SDK on a node that follows', () => {
  const folder = temporaryFolder();
  let upstream: ServedNode;
  let follower: ServedNode;
  let config: AptosConfig;
  let aptos: Aptos;
  let streams: Stream[];

  beforeAll(async () => {
    const source = join(folder, 'source');
    await makeSample(source, 1_500);
    streams = await streamsOf(source);
    upstream = await ServedNode.start(source);
    const args = ['--follow', upstream.ready.url, '--header-prefix', 'X-Aptos', '--workers', '2'];
    follower = await ServedNode.start(join(folder, 'copy'), args);
    config = new AptosConfig({ network: Network.CUSTOM, fullnode: follower.ready.url });
    aptos = new Aptos(config);
    const newest = upstream.ready.ledger_version;
    const version = async () => (await aptos.getLedgerInfo()).ledger_version;
    await until('all is followed', async () => (await version()) === newest);
  });
  afterAll(async () => {
    expect((await follower.stop()).code).toBe(0);
    await upstream.stop();
    expect(follower.complaints).toEqual([]);
    killLeftNodes();
  });

  /** Everything in one response of the upstream. */
  async function whole(path: string): Promise<unknown[]> {
    const response = await upstream.get(path);
    expect([response.status, response.headers.get('x-node-cursor')], path).toEqual([200, null]);
    return (await response.json()) as unknown[];
  }

  // When the SDK reads "all", it requests the first page again if a node returns fewer items than requested (version
  // 6.3.1), so small pages are only tested with its page-by-page methods.
  it.each([
    ['0x1', 1],
    ['0x1', 7],
    [CAFE_HEX, 3],
    ['0x1', 9_999],
  ])('resources of %s, %i to a page', async (accountAddress, limit) => {
    const due = await whole(`/accounts/${accountAddress}/resources?limit=9999`);
    const found: unknown[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const options = { limit, ...(cursor === undefined ? {} : { cursor }) };
      const page = await aptos.getAccountResourcesPage({ accountAddress, options });
      expect(page.resources.length).toBeLessThanOrEqual(limit);
      found.push(...page.resources);
      ({ cursor } = page);
      pages += 1;
    } while (cursor !== undefined);
    expect(found).toEqual(due);
    expect(pages).toBeGreaterThanOrEqual(Math.ceil(due.length / limit));
    expect(await aptos.getAccountResources({ accountAddress })).toEqual(due);
  });

  it.each([
    ['0x1', 5],
    ['0x1', 100],
    [CAFE_HEX, 1],
  ])('modules of %s, %i to a page', async (accountAddress, limit) => {
    const due = await whole(`/accounts/${accountAddress}/modules?limit=9999`);
    expect(due.length).toBeGreaterThan(1);
    const found: unknown[] = [];
    let cursor: string | undefined;
    do {
      const options = { limit, ...(cursor === undefined ? {} : { cursor }) };
      const page = await aptos.getAccountModulesPage({ accountAddress, options });
      expect(page.modules.length).toBeLessThanOrEqual(limit);
      found.push(...page.modules);
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(found).toEqual(due);
    expect(await aptos.getAccountModules({ accountAddress })).toEqual(due);
  });

  // This SDK no longer has a method for events by stream, but its request function is public.
  it.each([1, 7, 100])('the longest streams, %i events to a page', async (limit) => {
    const longest = streams.toSorted((a, b) => b.versions.length - a.versions.length).slice(0, 4);
    for (const { path, versions } of limit === 1 ? longest.slice(3) : longest) {
      const found: Event[] = [];
      for (;;) {
        const { data } = await getAptosFullNode<object, Event[]>({
          aptosConfig: config,
          originMethod: 'events',
          path: path.slice(1),
          params: { start: found.length, limit },
        });
        found.push(...data);
        if (data.length < limit) break;
      }
      expect(found.length).toBe(versions.length);
      expect(found.map((event) => Number(event.sequence_number))).toEqual([...versions.keys()]);
      const due: unknown[] = [];
      while (due.length < versions.length) {
        due.push(...(await whole(`${path}?start=${due.length}&limit=100`)));
      }
      expect(found).toEqual(due);
    }
  });

  it('a block, a module and a resource as they were at a version', async () => {
    const ledgerVersion = 700;
    const asked = `ledger_version=${ledgerVersion}`;
    const block = await aptos.getBlockByVersion({ ledgerVersion });
    const due = await (await upstream.get(`/blocks/by_version/${ledgerVersion}`)).json();
    expect(block).toEqual(due);
    const module = await aptos.getAccountModule({
      accountAddress: CAFE_HEX,
      moduleName: 'ticker',
      options: { ledgerVersion },
    });
    const dueModule = await upstream.get(`/accounts/${CAFE_HEX}/module/ticker?${asked}`);
    expect(module).toEqual(await dueModule.json());
    const resource = await aptos.getAccountResource({
      accountAddress: CAFE_HEX,
      resourceType: '0x1::account::Account',
      options: { ledgerVersion },
    });
    const path = `/accounts/${CAFE_HEX}/resource/0x1::account::Account?${asked}`;
    const answer = (await (await upstream.get(path)).json()) as { data: unknown };
    expect(resource).toEqual(answer.data);
  });
});
