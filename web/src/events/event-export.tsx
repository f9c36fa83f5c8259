/** Event streams as files: CSV, or one JSON object per line, ascending. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { counted, groupDigits } from '../parts/number-text.ts';
import { announce, Failure } from '../parts/parts.tsx';
import { saveFile } from '../parts/save-file.ts';
import { csvText, type EventRecord, jsonLines } from './event-file.ts';
import { LARGEST_PAGE_SIZE, readOlderEvents, type StreamName } from './event-stream.ts';

/** Maximum number of events in a file; earlier ones are left out. */
const MAX_EXPORTED_EVENTS = 10_000;

const FORMATS = [
  ['CSV', 'csv', 'text/csv', csvText],
  ['JSON lines', 'jsonl', 'application/x-ndjson', jsonLines],
] as const;

interface ExportProps {
  readonly stream: StreamName;
  /** Sequence number of the last exported event. */
  readonly last: bigint | undefined;
}

export function ExportButtons({ stream, last }: ExportProps) {
  const [progress, setProgress] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const run = useRef(new AbortController());
  useEffect(() => () => run.current.abort(), []);
  const save = async ([, ending, type, write]: (typeof FORMATS)[number]): Promise<void> => {
    setFailure(undefined);
    try {
      const { events, note } = await collect(stream, last! + 1n, run.current.signal, setProgress);
      const name = `events-${stream.account.slice(0, 18)}-${stream.creationNumber}.${ending}`;
      saveFile(write(events), type, name);
      setProgress(`${counted(events.length, 'event')} saved as ${name}${note}`);
      announce(`${counted(events.length, 'event')} saved`);
    } catch (error) {
      if (run.current.signal.aborted) return;
      setProgress('');
      setFailure(error);
    }
  };
  if (last === undefined) return null;
  return (
    <span class="export">
      {FORMATS.map((format) => (
        <button key={format[0]} type="button" class="quiet" onClick={() => save(format)}>
          Export {format[0]}
        </button>
      ))}
      {progress !== '' && <span class="hint">{progress}</span>}
      {failure !== undefined && <Failure title="Nothing was exported" error={failure} />}
    </span>
  );
}

/** The newest events before `end`, ascending, as far as they are retained and fit. */
async function collect(
  stream: StreamName,
  end: bigint,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<{ readonly events: readonly EventRecord[]; readonly note: string }> {
  let events: readonly EventRecord[] = [];
  let first = end;
  let note = '';
  while (first > 0n && note === '') {
    const page = await readOlderEvents(stream, first, signal, LARGEST_PAGE_SIZE);
    if (page.events.length === 0) break;
    events = [...page.events, ...events];
    first = events[0]!.sequenceNumber;
    onProgress(`${counted(events.length, 'event')} so far…`);
    if (page.pruned !== undefined) note = '; older ones are pruned';
    else if (events.length >= MAX_EXPORTED_EVENTS && first > 0n) {
      note = `, the newest ${groupDigits(MAX_EXPORTED_EVENTS)} of them`;
    }
  }
  return { events: events.slice(-MAX_EXPORTED_EVENTS), note };
}
