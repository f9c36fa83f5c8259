/** Thousands of transactions of the sample, rendered and encoded again. SAMPLE_REQUESTS sets the number. */
import { expect, it } from 'vitest';
import { roundsOf, testSeed } from '../random.ts';
import { sampleRequests } from './sample-requests.ts';

const TRANSACTIONS = roundsOf('SAMPLE_REQUESTS', 1_000, 30_000);

it(`${TRANSACTIONS} transactions of the sample are requests for what was signed`, {
  timeout: 180_000 + TRANSACTIONS * 20,
}, async () => {
  const { encodedBack } = await sampleRequests(testSeed('requests') + 1, TRANSACTIONS);
  expect(encodedBack).toBeGreaterThan((TRANSACTIONS * 10) / 17);
});
