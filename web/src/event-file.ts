/** Events, and their text in a file. */
import { formatJson, type Json } from './exact-json.ts';

/** One event of the stream. */
export interface EventRecord {
  readonly sequenceNumber: bigint;
  readonly version: bigint;
  readonly type: string;
  readonly data: Json;
}

/** One event a line, fields as the node names them. */
export function jsonLines(events: readonly EventRecord[]): string {
  const line = ({ sequenceNumber, version, type, data }: EventRecord) =>
    formatJson({ sequence_number: String(sequenceNumber), version: String(version), type, data });
  return events.map((event) => `${line(event)}\n`).join('');
}

/** With a line of names first, as RFC 4180 says; data as JSON. */
export function csvText(events: readonly EventRecord[]): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = events.map(({ sequenceNumber, version, type, data }) =>
    [sequenceNumber, version, quoted(type), quoted(formatJson(data))].join(','),
  );
  return ['sequence_number,version,type,data', ...lines].map((line) => `${line}\r\n`).join('');
}
