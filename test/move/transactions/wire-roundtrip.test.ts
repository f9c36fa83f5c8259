/** Every wire type, as random values: both directions, and bytes that are refused. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BcsError, decodeBcs } from '../../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { domainHash } from '../../../src/move/crypto/hash.ts';
import { ContractEvent } from '../../../src/move/transactions/event.ts';
import {
  Transaction,
  TransactionOnChainData,
  transactionHash,
} from '../../../src/move/transactions/transaction.ts';
import {
  TransactionInfo,
  transactionInfoHash,
} from '../../../src/move/transactions/transaction-info.ts';
import { WriteSet, writeSetHash } from '../../../src/move/transactions/write-set.ts';
import { parsePhysicalStateKey, physicalStateKey } from '../../../src/move/types/state-key.ts';
import { StateValueMetadata, stateValueHash } from '../../../src/move/types/state-value.ts';
import { testSeed } from '../../random.ts';
import { decodeOnChainDataPage } from './wire-answers.ts';
import * as wire from './wire-arbitraries.ts';
import { WIRE_TYPES } from './wire-types.ts';

const seed = testSeed('wire-roundtrip');

/** Types with maps: their decoded order differs from that of the random values. */
const HOLDS_MAPS = new Set(['Transaction', 'TransactionOnChainData']);

describe.each(Object.entries(WIRE_TYPES))('%s', (name, { value, read, write }) => {
  const encode = (of: unknown) => encodeBcs((writer) => write(writer, of));

  test('value → bytes → value, and bytes → value → bytes', () => {
    fc.assert(
      fc.property(value, (original) => {
        const bytes = encode(original);
        const decoded = decodeBcs(bytes, read);
        expect(encode(decoded).equals(bytes)).toBe(true);
        if (!HOLDS_MAPS.has(name)) expect(decoded).toEqual(original);
      }),
      { seed, numRuns: 150 },
    );
  });

  test('cut or prolonged bytes are refused', () => {
    fc.assert(
      fc.property(value, fc.nat(), (original, cut) => {
        const bytes = encode(original);
        const refused = [
          bytes.subarray(0, cut % bytes.length),
          Buffer.concat([bytes, Buffer.of(0)]),
        ];
        for (const bad of refused) expect(() => decodeBcs(bad, read)).toThrow(BcsError);
      }),
      { seed, numRuns: 100 },
    );
  });

  test('a changed byte is refused, or means a value with just these bytes', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.integer({ min: 1, max: 255 }), (original, at, change) => {
        const bytes = encode(original);
        bytes[at % bytes.length]! ^= change;
        let decoded: unknown;
        try {
          decoded = decodeBcs(bytes, read);
        } catch (error) {
          expect(error).toBeInstanceOf(BcsError);
          return;
        }
        expect(encode(decoded).equals(bytes)).toBe(true);
      }),
      { seed, numRuns: 300 },
    );
  });
});

describe('state keys', () => {
  test('physical encoding both ways', () => {
    fc.assert(
      fc.property(wire.stateKey, (key) => {
        const parsed = parsePhysicalStateKey(physicalStateKey(key));
        expect(parsed).toEqual(key);
        if (key.kind === 'accessPath') expect(parsed).toHaveProperty('parsed', key.parsed);
      }),
      { seed },
    );
  });
});

describe('feed items', () => {
  test('the parts to hash are views on the page, and are the BCS of the parts', () => {
    fc.assert(
      fc.property(fc.array(wire.onChainData, { maxLength: 3 }), (items) => {
        const page = encodeBcs((writer) => writer.vector(items, TransactionOnChainData.write));
        const decoded = decodeOnChainDataPage(page);
        expect(decoded).toHaveLength(items.length);
        for (const { data, bytes } of decoded) {
          const reencoded = Transaction.encode(data.transaction);
          expect(bytes.transaction.equals(reencoded)).toBe(true);
          expect(transactionHash(bytes.transaction)).toEqual(domainHash('Transaction', reencoded));
          const info = TransactionInfo.encode(data.info);
          expect(transactionInfoHash(bytes.info)).toEqual(domainHash('TransactionInfo', info));
          const changes = WriteSet.encode(data.changes);
          expect(writeSetHash(bytes.changes)).toEqual(domainHash('WriteSet', changes));
          const events = data.events.map((event) => ContractEvent.encode(event));
          expect(bytes.events.map((event) => event.toString('hex'))).toEqual(
            events.map((event) => event.toString('hex')),
          );
          expect(bytes.whole.buffer).toBe(page.buffer);
          expect(bytes.whole.equals(TransactionOnChainData.encode(data))).toBe(true);
        }
      }),
      { seed, numRuns: 50 },
    );
  });

  test('the shortest item has the length that pages are bounded by', () => {
    const shortest = TransactionOnChainData.encode({
      version: 0n,
      transaction: {
        kind: 'genesis',
        payload: { kind: 'direct', writeSet: { kind: 'v0', writes: [] }, events: [] },
      },
      info: {
        kind: 'v0',
        gasUsed: 0n,
        status: { kind: 'success' },
        transactionHash: Buffer.alloc(32),
        eventRootHash: Buffer.alloc(32),
        stateChangeHash: Buffer.alloc(32),
        stateCheckpointHash: undefined,
        auxiliaryInfoHash: undefined,
      },
      events: [],
      accumulatorRootHash: Buffer.alloc(32),
      changes: { kind: 'v0', writes: [] },
    });
    expect(shortest).toHaveLength(TransactionOnChainData.minBytes);
    expect(decodeOnChainDataPage(Buffer.concat([Buffer.of(1), shortest]))).toHaveLength(1);
  });
});

test('the hash of a state value is of its BCS', () => {
  fc.assert(
    fc.property(wire.stateValue, (value) => {
      const bytes = encodeBcs((writer) => {
        writer.uleb32(value.metadata === undefined ? 0 : 1).bytes(value.bytes);
        if (value.metadata !== undefined) StateValueMetadata.write(writer, value.metadata);
      });
      expect(stateValueHash(value)).toEqual(domainHash('StateValue', bytes));
    }),
    { seed },
  );
});
