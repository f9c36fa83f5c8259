/**
 * Event streams of real nodes: with workers, at their stop, in an embedding program, and over a node that is killed
 * while it follows another, pruning one. RESUMES sets how often a listener is interrupted there, SEED repeats the
 * choices of a run.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { startNode } from '../../src/index.ts';
import { EventClient } from '../api/event-client.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { killLeftNodes, runCommand, ServedNode, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';
import { childrenOf, openSockets, until } from './worker-processes.ts';

const RESUMES = roundsOf('RESUMES', 8, 40);
const BLOCKS = '/accounts/0x1/events/0x1::block::BlockResource/new_block_events';
const PRODUCED = '60';
const KEEP = ['--keep', '2000', '--prune-grace-seconds', '1'];

afterEach(killLeftNodes);

/** The numbers of the events so far, each with its record. */
function numbersOf(client: EventClient): number[] {
  return client.events.map(({ type, id }) => {
    expect(type).toBe('message');
    return Number(id);
  });
}

const fromOneOn = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => first + index);

describe('event streams', () => {
  it('come from every worker, and end properly when the node stops', async () => {
    const data = join(temporaryFolder(), 'ledger');
    await makeSample(data, 600);
    const node = await ServedNode.start(data, ['--workers', '2', '--produce', PRODUCED]);
    const clients = await Promise.all(
      Array.from(
        { length: 12 },
        () => new EventClient(`${node.ready.url}${BLOCKS}?start=0`).opened,
      ),
    );
    const [first] = await clients[0]!.until(1);
    const length = Number((await clients[0]!.until(20)).at(-1)!.id) + 1;
    const count = Math.max(length, 20);
    for (const client of clients) await client.until(count);
    for (const client of clients) {
      expect(client.events[0]).toEqual(first);
      expect(numbersOf(client).slice(0, count)).toEqual(fromOneOn(count));
    }
    // One worker dies: its streams break, the others continue. On a busy machine one worker may have all of them.
    const workers = childrenOf(node.process.pid!).sort((a, b) => openSockets(b) - openSockets(a));
    process.kill(workers[0]!, 'SIGKILL');
    await until('streams of a worker that is gone', () =>
      clients.some(({ isComplete }) => isComplete === false),
    );
    await Promise.all(clients.map((client) => client.until(client.events.length + 3)));
    const left = clients.filter(({ isComplete }) => isComplete === undefined);
    const ended = node.stop();
    for (const client of left) {
      await client.closed;
      expect(client.isComplete).toBe(true);
      expect(client.retryMs).toBeGreaterThanOrEqual(1_000);
    }
    expect((await ended).code).toBe(0);
    expect(node.complaints).toEqual([]);
  });

  it('end with a node inside a program', async () => {
    const node = await startNode({ settings: { produce: 50 } });
    const client = await new EventClient(`${node.url}/-/heads`).opened;
    await client.until(3);
    await node.stop();
    await client.closed;
    expect(client.isComplete).toBe(true);
  });

  it(`every event comes once, from a node that prunes and one that follows it, with ${RESUMES} interruptions`, {
    timeout: 180_000 + RESUMES * 1_000,
  }, async () => {
    const random = new Random(testSeed('event streams'));
    const folder = temporaryFolder();
    const [data, copy] = [join(folder, 'ledger'), join(folder, 'copy')];
    await makeSample(data, 3_000);
    cpSync(data, copy, { recursive: true });
    const upstream = await ServedNode.start(data, ['--produce', PRODUCED, ...KEEP]);
    const follow = ['--follow', upstream.ready.url, '--listen'];
    let follower = await ServedNode.start(copy, [...follow, '127.0.0.1:0']);
    const address = `127.0.0.1:${follower.port}`;
    const records: string[] = [];
    const seen = { upstream: 0, pruned: 0, kills: 0 };
    const isEnough = () => records.length > 10 && seen.upstream > 0;
    for (let resumes = 0; resumes < RESUMES || !isEnough(); resumes += 1) {
      const isUpstream = random.fraction() < 0.4;
      const { url } = (isUpstream ? upstream : follower).ready;
      const next = records.length;
      const client =
        next > 0 && random.fraction() < 0.7
          ? new EventClient(url + BLOCKS, { 'last-event-id': String(next - 1) })
          : new EventClient(`${url}${BLOCKS}?start=${next}`);
      await client.opened;
      if (client.status === 410) {
        // Only the follower still has it.
        expect(isUpstream).toBe(true);
        seen.pruned += 1;
        client.close();
        continue;
      }
      expect(client.status).toBe(200);
      await Promise.race([client.until(1 + random.below(6)), sleep(random.below(400))]);
      if (!isUpstream && random.fraction() < 0.1) {
        seen.kills += 1;
        await follower.stop('SIGKILL');
        follower = await ServedNode.start(copy, [...follow, address]);
      } else {
        client.close();
      }
      await client.closed;
      for (const [index, number] of numbersOf(client).entries()) {
        expect(number).toBe(records.length);
        records.push(client.events[index]!.data);
      }
      seen.upstream += Number(isUpstream && client.events.length > 0);
    }
    const pageAt = async (start: number): Promise<string> =>
      await (await follower.get(`${BLOCKS}?start=${start}&limit=100`)).text();
    const newest = records.length - 1;
    await until('the follower has everything', async () => (await pageAt(newest)) !== '[]');
    for (let start = 0; start < records.length; start += 100) {
      const page = await pageAt(start);
      const expected = records.slice(start, start + 100);
      expect(page.startsWith(`[${expected.join(',')}`)).toBe(true);
    }
    await upstream.stop();
    expect((await follower.stop()).code).toBe(0);
    expect((await runCommand(['verify', '--data', copy])).code).toBe(0);
  });
});
