/** Ten thousand transactions of the sample, rendered and encoded again. */
import { expect, it } from 'vitest';
import { testSeed } from '../random.ts';
import { sampleRequests } from './sample-requests.ts';

it('10,000 transactions of the sample are requests for what was signed', async () => {
  const { encodedBack } = await sampleRequests(testSeed('requests') + 1, 17_000);
  expect(encodedBack).toBeGreaterThan(10_000);
}, 300_000);
