/** A transaction's calls as a tree, which only renders the visible rows. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TraceFailure } from '../../../src/execution/trace/trace-shape.ts';
import { ApiFailure, refusal } from '../asking/api-client.ts';
import type { Json } from '../asking/exact-json.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { type ApiRequest, traceRequest } from '../asking/requests.ts';
import { JsonView } from '../modules/move-text.tsx';
import { DeclaredName } from '../parts/ids.tsx';
import { counted, groupDigits } from '../parts/number-text.ts';
import { CodeBlock, Facts, Failure, Section, Waiting } from '../parts/parts.tsx';
import { saveFile } from '../parts/save-file.ts';
import { type Compared, GasOfTrace, type Loaded } from './gas-of-trace.tsx';
import type { TraceRow } from './trace-tree.ts';
import type { TraceReply, TraceRequest } from './trace-worker.ts';

/** Must match the style sheet. */
const ROW_PX = 28;
const WINDOW_PX = 560;
/** Rows rendered above and below the window. */
const MARGIN_ROWS = 20;

type Detail = Extract<TraceReply, { kind: 'detail' }>;

interface Shown {
  readonly from: number;
  readonly rows: readonly TraceRow[];
}

/** The worker, and its latest replies. */
function useTrace(id: string) {
  const [facts, setFacts] = useState<Loaded>();
  const [failure, setFailure] = useState<unknown>();
  const [count, setCount] = useState(0);
  const [shown, setShown] = useState<Shown>({ from: 0, rows: [] });
  const [detail, setDetail] = useState<Detail>();
  const [compared, setCompared] = useState<Compared>();
  const worker = useRef<Worker>(undefined);
  const request = traceRequest(id);
  const ask = (message: TraceRequest): void => worker.current?.postMessage(message);
  useEffect(() => {
    const made = new Worker(new URL('./trace-worker.ts', import.meta.url), { type: 'module' });
    worker.current = made;
    made.addEventListener('message', ({ data }: MessageEvent<TraceReply>) => {
      if (data.kind === 'failed') setFailure(failureOf(request, data));
      else if (data.kind === 'incomparable')
        setCompared({ failure: failureOf(traceRequest(data.id), data) });
      else if (data.kind === 'compared') setCompared(data);
      else if (data.kind === 'stacks') saveFile(data.text, 'text/plain', `gas-${id}.txt`);
      else if (data.kind === 'rows') setShown(data);
      else if (data.kind === 'detail') setDetail(data);
      else {
        setCount(data.count);
        if (data.kind === 'loaded') setFacts(data.facts);
      }
    });
    made.postMessage({ kind: 'load', path: request.path } satisfies TraceRequest);
    return () => made.terminate();
  }, [request.path]);
  return { facts, failure, count, shown, detail, compared, ask, request };
}

function failureOf(
  request: ApiRequest,
  { status, text }: { readonly status: number; readonly text: string },
): ApiFailure {
  const said =
    status === 0
      ? { code: 'no_answer', message: 'the node could not be reached; is it still running?' }
      : refusal(text);
  return new ApiFailure(request, { status, ...said });
}

export function TraceView({ id }: { id: string }) {
  const { facts, failure, count, shown, detail, compared, ask, request } = useTrace(id);
  const asked = { request, refreshes: 0, ...(failure !== undefined && { failure }) };
  return (
    <>
      {failure !== undefined && <Failure title="No trace" error={failure} />}
      {facts === undefined && failure === undefined && <Waiting />}
      {facts && (
        <>
          {facts.is_recorded === false && (
            <p class="note warning" role="status">
              Run again here, the transaction did something else than the ledger has recorded.
            </p>
          )}
          {facts.failures.map((one, at) => (
            <WhereItFailed key={at} failure={one} />
          ))}
          <Section title="Calls">
            <div class="button-row">
              <button
                type="button"
                class="quiet"
                onClick={() => ask({ kind: 'all', isOpen: true })}
              >
                Open all
              </button>
              <button
                type="button"
                class="quiet"
                onClick={() => ask({ kind: 'all', isOpen: false })}
              >
                Close all
              </button>
              <p class="hint">
                {counted(count, 'row')}; gas with callees, in units
                {facts.omitted.steps > 0 &&
                  `; ${counted(facts.omitted.steps, 'step')} above the limits left out`}
              </p>
            </div>
            <Rows {...{ count, shown, ask }} unit={facts.gas.unit} />
          </Section>
          {detail?.step && <StepDetail detail={detail} />}
          <GasOfTrace {...{ id, facts, compared, ask }} />
        </>
      )}
      <RequestPanel asked={asked} />
    </>
  );
}

interface RowsProps {
  readonly count: number;
  readonly shown: Shown;
  readonly unit: number;
  readonly ask: (message: TraceRequest) => void;
}

function Rows({ count, shown, unit, ask }: RowsProps) {
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const from = Math.max(0, Math.floor(top / ROW_PX) - MARGIN_ROWS);
  useEffect(() => {
    const to = from + Math.ceil(WINDOW_PX / ROW_PX) + 2 * MARGIN_ROWS;
    ask({ kind: 'rows', from, to });
  }, [from, count]);
  return (
    <section
      class="trace-window"
      aria-label="Tree of calls"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      ref={box}
      style={{ height: `${Math.min(WINDOW_PX, count * ROW_PX + 2)}px` }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="trace-rows" style={{ height: `${count * ROW_PX}px` }}>
        {shown.rows.map((row, at) => (
          <Row key={row.id} row={row} unit={unit} ask={ask} top={(shown.from + at) * ROW_PX} />
        ))}
      </div>
    </section>
  );
}

interface RowProps {
  readonly row: TraceRow;
  readonly unit: number;
  readonly top: number;
  readonly ask: RowsProps['ask'];
}

function Row({ row, unit, top, ask }: RowProps) {
  const { id, depth, kind, text, gas, isOpen, isFailed } = row;
  const units = gas && (gas.total / unit).toFixed(gas.total < unit ? 3 : 0);
  return (
    <div
      class={`trace-row of-${kind}${isFailed ? ' bad' : ''}`}
      style={{ top: `${top}px`, paddingLeft: `${Math.min(depth, 40) * 0.875}rem` }}
    >
      {isOpen === undefined ? (
        <span class="trace-mark" />
      ) : (
        <button
          type="button"
          class="trace-mark"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Close' : 'Open'} ${text}`}
          onClick={() => ask({ kind: 'toggle', id })}
        >
          {isOpen ? '▾' : '▸'}
        </button>
      )}
      <button type="button" class="trace-text" onClick={() => ask({ kind: 'detail', id })}>
        {kind !== 'call' && <span class="badge">{kind}</span>} {text}
      </button>
      {units !== undefined && <span class="trace-gas">{groupDigits(units)}</span>}
    </div>
  );
}

function StepDetail({ detail: { step } }: { detail: Detail }) {
  return (
    <Section title="The chosen step">
      <JsonView value={step as unknown as Json} />
    </Section>
  );
}

function WhereItFailed({ failure }: { failure: TraceFailure }) {
  const { status, code, reason, description, function: at, offset, instructions = [] } = failure;
  return (
    <Section title="Where it failed">
      <Facts
        rows={[
          ['Status', [status, code, reason].filter(Boolean).join(' ')],
          ['Meaning', description],
          ['Function', at && <DeclaredName name={at} />],
        ]}
      />
      {instructions.length > 0 && (
        <CodeBlock style="hex" label="Instructions around the failure">
          <code>
            {instructions.map((one) => (
              <span key={one.offset} class={one.offset === offset ? 'run marked' : undefined}>
                {`${one.offset === offset ? '→' : ' '} ${one.offset}: ${one.text}\n`}
              </span>
            ))}
          </code>
        </CodeBlock>
      )}
    </Section>
  );
}
