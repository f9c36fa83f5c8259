/** Transactions of the sample, rendered and encoded again. */
import { expect, it } from 'vitest';
import { testSeed } from '../random.ts';
import { sampleRequests } from './sample-requests.ts';

it('transactions of the sample are requests for what was signed', async () => {
  const found = await sampleRequests(testSeed('requests'), 1_200);
  expect([...found.kinds].sort()).toEqual([
    'blockEpilogue',
    'blockMetadata',
    'blockMetadataExt',
    'genesis',
    'stateCheckpoint',
    'user',
  ]);
  expect([...found.payloads].sort()).toEqual(['entryFunction', 'multisig', 'payload', 'script']);
  expect(found.encodedBack).toBeGreaterThan(500);
  // If these types are in a call, stored values have other JSON forms than arguments.
  expect(['an Option<u8>', 'an enum', 'an object']).toEqual(
    expect.arrayContaining([...found.others.keys()]),
  );
});
