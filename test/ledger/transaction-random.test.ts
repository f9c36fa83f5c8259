/** Transactions of every kind with random contents: any bytes render as JSON of the right form. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/move/json/json-text.ts';
import { formatJson } from '../../src/move/json/json-text-print.ts';
import { TransactionOnChainData } from '../../src/move/transactions/transaction.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { REQUEST_MEMBERS } from '../api/sample-requests.ts';
import { onChainData } from '../move/transactions/wire-arbitraries.ts';
import { propertySeed } from '../random.ts';
import { plainChunk } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { TransactionRendering } from './transaction-rendering.ts';

const INFO = [
  'version',
  'hash',
  'state_change_hash',
  'event_root_hash',
  'state_checkpoint_hash',
  'gas_used',
  'success',
  'vm_status',
  'accumulator_root_hash',
  'changes',
];
const METADATA = [
  ...['id', 'epoch', 'round', 'events', 'previous_block_votes_bitvec', 'proposer'],
  ...['failed_proposer_indices', 'timestamp'],
];

/** Members after those common to all kinds (docs/spec/transactions.md §2.3). */
function membersOf(transaction: TransactionOnChainData['transaction']): string[] {
  switch (transaction.kind) {
    case 'user':
      return [...REQUEST_MEMBERS, 'events', 'timestamp'];
    case 'genesis':
      return ['payload', 'events'];
    case 'blockMetadata':
      return METADATA;
    case 'blockMetadataExt':
      return [...METADATA, 'block_metadata_extension'];
    case 'stateCheckpoint':
      return ['timestamp'];
    case 'blockEpilogue':
      return ['timestamp', 'block_end_info'];
    case 'validator': {
      const parts = {
        dkgResult: ['dkg_transcript'],
        observedJwkUpdate: ['quorum_certified_update'],
        chunkyDkgResult: ['certified_subtrx', 'encryption_key'],
      }[transaction.transaction.kind];
      return ['events', 'timestamp', ...parts, 'validator_transaction_type'];
    }
  }
}

describe('random transactions', () => {
  it('have JSON with the members of their kind, in order', async () => {
    const store = new MemoryStore();
    const writer = await LedgerWriter.open(store);
    await writer.append(plainChunk(0, 1));
    const rendering = await TransactionRendering.over(store);
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(onChainData, async (data) => {
        kinds.add(data.transaction.kind);
        const item = TransactionOnChainData.encode(data);
        const text = await rendering.json(item, 7n);
        const json = JSON.parse(text) as Record<string, unknown>;
        expect(Object.keys(json)).toEqual([...INFO, ...membersOf(data.transaction), 'type']);
        expect(json['version']).toBe(String(data.version));
        // Compact JSON, the same as from another printer; some numbers are too long for JSON.parse.
        expect(formatJson(parseJson(Buffer.from(text)))).toBe(text);
        if (json['events'] !== undefined) {
          expect((json['events'] as unknown[]).length).toBe(data.events.length);
        }
      }),
      { ...propertySeed(), numRuns: 400 },
    );
    expect(kinds.size).toBe(7);
    await store.close();
  });
});
