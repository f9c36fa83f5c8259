/** BCS of every wire type: bytes are either rejected, or decode to a value that encodes to the same bytes. */
import fc from 'fast-check';
import { decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { readSignedLedgerInfo } from '../../src/move/transactions/ledger-info.ts';
import { TransactionPayload } from '../../src/move/transactions/payload.ts';
import { readTransactionOrigin } from '../../src/move/transactions/transaction-origin.ts';
import { decodeResourceGroup, encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import { parsePhysicalStateKey, physicalStateKey } from '../../src/move/types/state-key.ts';
import { StateValue } from '../../src/move/types/state-value.ts';
import { readCapturedLayout } from '../../src/move/values/layout-captured.ts';
import * as wire from '../../test/move/transactions/wire-arbitraries.ts';
import { WIRE_TYPES } from '../../test/move/transactions/wire-types.ts';
import { type Decoder, decoderTarget, expectSameBytes } from './decoders.ts';

const SAMPLES = 40;

const typed = Object.entries(WIRE_TYPES).map(
  ([name, { value, read, write }]): Decoder => ({
    name,
    samples: (seed) =>
      fc
        .sample(value, { seed, numRuns: SAMPLES })
        .map((one) => encodeBcs((writer) => write(writer, one))),
    run: (bytes) => {
      const decoded = decodeBcs(bytes, read);
      expectSameBytes(
        name,
        encodeBcs((writer) => write(writer, decoded)),
        bytes,
      );
    },
  }),
);

const stateKeys = (seed: number) =>
  fc.sample(wire.stateKey, { seed, numRuns: SAMPLES }).map(physicalStateKey);
const stateValues = (seed: number) =>
  fc.sample(wire.stateValue, { seed, numRuns: SAMPLES }).map((value) => StateValue.encode(value));
const onChainData = (seed: number) =>
  typed.find(({ name }) => name === 'TransactionOnChainData')!.samples(seed);

const others: readonly Decoder[] = [
  {
    name: 'physical state key',
    samples: stateKeys,
    run: (bytes) => {
      expectSameBytes('state key', physicalStateKey(parsePhysicalStateKey(bytes)), bytes);
    },
  },
  {
    name: 'state value',
    samples: stateValues,
    run: (bytes) => {
      const value = StateValue.decode(bytes);
      expectSameBytes('state value', StateValue.encode(value), bytes);
    },
  },
  {
    name: 'resource group',
    samples: () => [encodeResourceGroup([])],
    run: (bytes) => void decodeResourceGroup(bytes),
  },
  {
    name: 'signed ledger info',
    samples: () => [Buffer.alloc(200), Buffer.concat([Buffer.alloc(137), Buffer.of(0, 0, 0)])],
    run: (bytes) => void decodeBcs(bytes, readSignedLedgerInfo),
  },
  {
    name: 'captured layout',
    samples: () => [Buffer.of(0), Buffer.of(7, 2), Buffer.of(8, 2, 0, 1)],
    run: (bytes) => void decodeBcs(bytes, (reader) => readCapturedLayout(reader, 0)),
  },
  {
    name: 'payload',
    samples: (seed) => typed.find(({ name }) => name === 'TransactionPayload')!.samples(seed),
    run: (bytes) => void TransactionPayload.decode(bytes),
  },
  { name: 'origin', samples: onChainData, run: (bytes) => void readTransactionOrigin(bytes) },
];

export const wireTarget = decoderTarget('wire', 'BCS of every wire type', [...typed, ...others]);
