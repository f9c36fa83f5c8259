/** Events, and their text in a file. */
import { formatJson, type Json } from '../asking/exact-json.ts';

/** One event of the stream. */
export interface EventRecord {
  readonly sequenceNumber: bigint;
  readonly version: bigint;
  readonly type: string;
  readonly data: Json;
}

/** One event per line, with the node's field names. */
export function jsonLines(events: readonly EventRecord[]): string {
  const line = ({ sequenceNumber, version, type, data }: EventRecord) =>
    formatJson({ sequence_number: String(sequenceNumber), version: String(version), type, data });
  return events.map((event) => `${line(event)}\n`).join('');
}

/** Matches text that a spreadsheet would take for a formula. */
const FORMULA = /^(?:[=+@\t\r]|-(?!\d+(?:\.\d+)?$))/;

/** Lines in RFC 4180 format. An apostrophe precedes texts that a spreadsheet would run as a formula. */
export function csvLines(lines: readonly (readonly string[])[]): string {
  const cell = (text: string): string => {
    const safe = FORMULA.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}

/** RFC 4180 with a header line; event data as JSON. */
export function csvText(events: readonly EventRecord[]): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = events.map(({ sequenceNumber, version, type, data }) =>
    [sequenceNumber, version, quoted(type), quoted(formatJson(data))].join(','),
  );
  return ['sequence_number,version,type,data', ...lines].map((line) => `${line}\r\n`).join('');
}
