/** Where a transaction's gas went: a flame graph, a table of functions, and a comparison with another transaction. */
import type { ApiFailure } from '../asking/api-client.ts';
import { traceRequest } from '../asking/requests.ts';
import { DeclaredName } from '../parts/ids.tsx';
import { groupDigits } from '../parts/number-text.ts';
import { Failure, QueryForm, Section, Table, TextField } from '../parts/parts.tsx';
import { saveFile } from '../parts/save-file.ts';
import type { TraceReply, TraceRequest } from './trace-worker.ts';

export type Loaded = Extract<TraceReply, { kind: 'loaded' }>['facts'];
export type Compared =
  | Extract<TraceReply, { kind: 'compared' }>
  | { readonly kind?: undefined; readonly failure: ApiFailure };

interface GasProps {
  readonly id: string;
  readonly facts: Loaded;
  readonly compared: Compared | undefined;
  readonly ask: (message: TraceRequest) => void;
}

export function GasOfTrace({ id, facts, compared, ask }: GasProps) {
  const { flame, gas } = facts;
  return (
    <>
      <Section title="Gas by call">
        <section
          class="flame"
          aria-label="Flame graph of the gas"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
          tabIndex={0}
          // All texts in it are escaped (flame-graph.ts).
          dangerouslySetInnerHTML={{ __html: flame }}
        />
        <div class="button-row">
          <button
            type="button"
            class="quiet"
            onClick={() => saveFile(flame, 'image/svg+xml', `gas-${id}.svg`)}
          >
            Save the picture
          </button>
          <button type="button" class="quiet" onClick={() => ask({ kind: 'stacks' })}>
            Save collapsed stacks
          </button>
          <p class="hint">The wider a function is, the more gas it takes, with what it calls.</p>
        </div>
      </Section>
      <FunctionTable facts={facts} />
      <Section title="Beside another transaction">
        <QueryForm
          label="Compare the gas"
          submit="Compare"
          onSubmit={({ other = '' }) =>
            ask({ kind: 'compare', id: other, path: traceRequest(other).path })
          }
        >
          <TextField label="Version or hash" name="other" required wide />
        </QueryForm>
        {compared && <Comparison compared={compared} unit={gas.unit} id={id} />}
      </Section>
    </>
  );
}

function FunctionTable({ facts: { functions, gas } }: { facts: Loaded }) {
  const units = (amount: number) => groupDigits((amount / gas.unit).toFixed(2));
  return (
    <Section title="Gas by function">
      <Table
        style="gas cards"
        caption="Functions by the gas of their own"
        columns={['Function', '#Calls', '#Own gas', '#With callees']}
      >
        {functions.map((one) => (
          <tr key={one.function}>
            <td>
              <DeclaredName name={one.function} isBrief />
            </td>
            <td class="number" data-label="calls">
              {groupDigits(one.calls)}
            </td>
            <td class="number" data-label="own gas">
              {units(one.own)}
            </td>
            <td class="number" data-label="with callees">
              {units(one.total)}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

interface ComparisonProps {
  readonly compared: Compared;
  readonly unit: number;
  readonly id: string;
}

function Comparison({ compared, unit, id }: ComparisonProps) {
  if (compared.kind === undefined) {
    return <Failure title="Nothing to compare with" error={compared.failure} />;
  }
  const units = (amount: number) => groupDigits((amount / unit).toFixed(2));
  const { functions, used } = compared;
  return (
    <>
      <p aria-live="polite">
        {`${id} used ${groupDigits(used[0] ?? '0')} units of gas, ${compared.id} ${groupDigits(used[1] ?? '0')}. `}
        {functions.length === 0 && 'Every function took as much in both.'}
      </p>
      {functions.length > 0 && (
        <Table
          style="gas cards"
          caption="Functions whose own gas differs most"
          columns={['Function', '#Calls', '#Here', '#There', '#Difference']}
        >
          {functions.map(({ function: name, calls, own: [here, there] }) => (
            <tr key={name}>
              <td>
                <DeclaredName name={name} isBrief />
              </td>
              <td class="number" data-label="calls">
                {calls.map((count) => groupDigits(count)).join(' → ')}
              </td>
              <td class="number" data-label="here">
                {units(here)}
              </td>
              <td class="number" data-label="there">
                {units(there)}
              </td>
              <td class="number" data-label="difference">
                {`${there > here ? '+' : ''}${units(there - here)}`}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
