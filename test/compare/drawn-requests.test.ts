/** Requests drawn from a ledger for a comparison: the same each time, with a maximum of each kind. */
import { expect, it } from 'vitest';
import {
  drawnRequests,
  MAX_SAMPLED_VERSIONS,
  MAX_SUBJECTS_PER_KIND,
} from '../../src/node/commands/compare/drawn-requests.ts';

const sender = (index: number) => `0x${(index + 4096).toString(16)}`;

/** Requests drawn from a ledger whose versions have `senders` different senders. */
async function draw(versions: number, senders = versions) {
  const asked: string[] = [];
  const requests = await drawnRequests(
    async (path) => {
      asked.push(path);
      const version = Number(path.split('/').pop());
      if (version >= senders) return undefined;
      return { hash: `0x${version}`, sender: sender(version), sequence_number: '0' };
    },
    0n,
    BigInt(versions - 1),
  );
  const summaries = requests.filter(({ path }) => path.includes('/transaction_summaries'));
  return { requests, asked, senders: summaries.length / 2 };
}

it.each([MAX_SAMPLED_VERSIONS - 1, MAX_SAMPLED_VERSIONS, MAX_SAMPLED_VERSIONS + 1])(
  'of %i versions',
  async (versions) => {
    const { asked } = await draw(versions);
    expect(asked).toHaveLength(Math.min(versions, MAX_SAMPLED_VERSIONS));
    expect(asked.at(-1)).toBe(`/v1/transactions/by_version/${versions - 1}`);
  },
);

it.each([MAX_SUBJECTS_PER_KIND - 1, MAX_SUBJECTS_PER_KIND, MAX_SUBJECTS_PER_KIND + 1])(
  'of %i senders',
  async (count) => {
    const { senders } = await draw(MAX_SAMPLED_VERSIONS, count);
    expect(senders).toBe(Math.min(count, MAX_SUBJECTS_PER_KIND));
  },
);

it('of a ledger of one version, and of one that tells nothing', async () => {
  expect((await draw(1)).asked).toEqual(['/v1/transactions/by_version/0']);
  const { requests } = await draw(10, 0);
  expect(requests.length).toBeGreaterThan(100);
});

it('is the same each time', async () => {
  expect((await draw(1_000)).requests).toEqual((await draw(1_000)).requests);
});
