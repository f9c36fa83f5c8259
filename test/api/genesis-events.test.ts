/** Every event of a genesis that belongs to a stream is served as in the file. */
import { expect, it } from 'vitest';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import type { StreamEvent } from '../../src/move/transactions/event.ts';
import { formatTypeTag } from '../../src/move/types/type-tag.ts';
import { readVersionedEvents } from '../move/transactions/wire-answers.ts';
import { type FileEvent, shortAddress, typeName } from './genesis-file.ts';
import { renderEventData } from './genesis-rendering.ts';
import { ALL_NETWORKS, describeServed, expectBytes } from './genesis-served.ts';

/** Number of streams in each file (docs/spec/ledger.md §1.4); each has one event. */
const STREAMS = { small: 4, mainnet: 1499, testnet: 33, devnet: 2 } as const;
/** Number of event types in each file. */
const TYPES = { small: 3, mainnet: 13, testnet: 10, devnet: 2 } as const;

function path({ address, creationNumber }: FileEvent): string {
  return `/v1/accounts/${shortAddress(address)}/events/${creationNumber}`;
}

/** The page of a stream that only has this event, assembled from the file's own bytes. */
function expectedBcs(event: FileEvent): Buffer {
  const count = Buffer.of(1);
  const version = Buffer.alloc(8);
  return Buffer.concat([count, version, event.bytes]);
}

function expectedJson(event: FileEvent): string {
  const type = typeName(event.type);
  return (
    `[{"version":"0","guid":{"creation_number":"${event.creationNumber}",` +
    `"account_address":"${shortAddress(event.address)}"},` +
    `"sequence_number":"${event.sequenceNumber}","type":"${type}",` +
    `"data":${renderEventData(type, event.data)}}]`
  );
}

describeServed('events', ALL_NETWORKS, (served) => {
  it('are as many as the file has, each the only one of its stream', () => {
    const events = served.file.streamEvents;
    expect(new Set(events.map(path)).size).toBe(STREAMS[served.name]);
    expect(events.length).toBe(STREAMS[served.name]);
    expect(new Set(events.map(({ type }) => typeName(type))).size).toBe(TYPES[served.name]);
  });

  it('come out as BCS, byte for byte', async () => {
    for (const event of served.file.streamEvents) {
      const answer = await served.bcs(path(event));
      expectBytes(answer, expectedBcs(event));
      const reader = new BcsReader(answer);
      const [read, ...others] = readVersionedEvents(reader);
      reader.finish();
      const decoded = read?.event as StreamEvent;
      expect([others.length, read?.version, decoded.kind]).toEqual([0, 0n, 'v1']);
      const { key, sequenceNumber } = decoded;
      expect([key.address, key.creationNumber, sequenceNumber]).toEqual([
        event.address,
        event.creationNumber,
        0n,
      ]);
      expect(formatTypeTag(decoded.typeTag)).toBe(typeName(event.type));
      expectBytes(decoded.data, event.data);
    }
  });

  it('come out as JSON, text for text', async () => {
    for (const event of served.file.streamEvents) {
      expect(await served.json(path(event))).toBe(expectedJson(event));
    }
  });

  it('come out under any spelling of the address, from their start and with any limit', async () => {
    for (const event of served.file.streamEvents.slice(0, 20)) {
      const padded = `/v1/accounts/${event.address.toUpperCase()}/events/${event.creationNumber}`;
      for (const query of ['', '?start=0', '?limit=1', '?start=0&limit=65535', '?start=00']) {
        expect(await served.json(padded + query)).toBe(expectedJson(event));
      }
      for (const start of ['1', '18446744073709551615']) {
        expect(await served.json(`${padded}?start=${start}`)).toBe('[]');
        expectBytes(await served.bcs(`${padded}?start=${start}`), Buffer.of(0));
      }
    }
  });

  it('of streams that are not there are none', async () => {
    const known = new Set(served.file.streamEvents.map(path));
    for (const event of served.file.streamEvents) {
      const neighbour = { ...event, creationNumber: event.creationNumber + 1n };
      if (known.has(path(neighbour))) continue;
      expect(await served.json(path(neighbour))).toBe('[]');
      expectBytes(await served.bcs(path(neighbour)), Buffer.of(0));
    }
    expect(await served.json('/v1/accounts/0xdead/events/0')).toBe('[]');
  });
});
