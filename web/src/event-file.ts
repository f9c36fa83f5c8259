/** Events, and their text in a file. */
import type { JsonValue } from '../../src/move/json/json-text.ts';
import { formatJson } from './json-fields.ts';

/** One event of the stream. */
export interface EventRecord {
  readonly sequenceNumber: bigint;
  readonly version: bigint;
  readonly type: string;
  readonly data: JsonValue;
}

/** One event a line, fields as the node names them. */
export function jsonLines(events: readonly EventRecord[]): string {
  return events.map((event) => `${formatJson(eventObject(event))}\n`).join('');
}

function eventObject({ sequenceNumber, version, type, data }: EventRecord): JsonValue {
  return new Map<string, JsonValue>([
    ['sequence_number', String(sequenceNumber)],
    ['version', String(version)],
    ['type', type],
    ['data', data],
  ]);
}

/** With a line of names first, as RFC 4180 says; data as JSON. */
export function csvText(events: readonly EventRecord[]): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = events.map(({ sequenceNumber, version, type, data }) =>
    [sequenceNumber, version, quoted(type), quoted(formatJson(data))].join(','),
  );
  return ['sequence_number,version,type,data', ...lines].map((line) => `${line}\r\n`).join('');
}
