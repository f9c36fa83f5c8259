/**
 * A balance over versions. Dots are values from the node. Between two dots nothing is known: if both are equal, a thin
 * line joins them; if they differ, a box spans all possible values. Versions that the node refused (pruned history) are
 * hatched. A slider's readout and a table show the same samples.
 */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type AssetUnit, amountText, counted, groupDigits } from '../parts/number-text.ts';
import { Table } from '../parts/parts.tsx';
import type { Sample, SampleOutcome, VersionRange } from './balance-history.ts';
import { balanceTicks } from './balance-ticks.ts';

const HEIGHT_PX = 280;
const MIN_WIDTH_PX = 240;
const PADDING_PX = { top: 28, right: 14, bottom: 30, left: 8 };
const BOTTOM_PX = HEIGHT_PX - PADDING_PX.bottom;
const DOT_RADIUS_PX = 3.5;
const SMALL_DOT_RADIUS_PX = 2.5;
/** Below this width dots are drawn small, so that they do not overlap. */
const NARROW_WIDTH_PX = 560;
/** Balances are scaled in whole steps of the plot: exact integers until they become pixels. */
const SCALE_STEPS = 1_000_000n;
const LABEL_CHARACTER_PX = 7.3;

/** Readable text of one request's outcome. */
function outcomeText(outcome: SampleOutcome): string {
  if (outcome.kind === 'balance') return groupDigits(outcome.balance);
  return `${outcome.status === 0 ? 'no answer' : outcome.status} ${outcome.code}: ${outcome.message}`;
}

function fraction(value: bigint, from: bigint, to: bigint): number {
  return Number(((value - from) * SCALE_STEPS) / (to - from)) / Number(SCALE_STEPS);
}

interface Scale {
  readonly widthPx: number;
  readonly left: number;
  readonly ticks: readonly bigint[];
  readonly lowest: bigint;
  readonly highest: bigint;
  label(balance: bigint): string;
  x(version: bigint): number;
  y(balance: bigint): number;
}

function makeScale(
  range: VersionRange,
  samples: readonly Sample[],
  widthPx: number,
  unit: AssetUnit | undefined,
): Scale {
  const balances = samples
    .flatMap(({ outcome }) => (outcome.kind === 'balance' ? [outcome.balance] : []))
    .sort((a, b) => (a < b ? -1 : 1));
  const [lowest, highest] = [balances[0] ?? 0n, balances.at(-1) ?? 0n];
  const ticks = balanceTicks(lowest, highest);
  const label = (balance: bigint) => amountText(balance, unit?.decimals ?? 0);
  const longest = Math.max(...ticks.map((tick) => label(tick).length));
  const left = PADDING_PX.left + Math.min(longest * LABEL_CHARACTER_PX + 6, widthPx / 2);
  const plotHeightPx = BOTTOM_PX - PADDING_PX.top;
  const plotWidthPx = widthPx - left - PADDING_PX.right;
  const x = (version: bigint) =>
    range.from === range.to
      ? left + plotWidthPx / 2
      : left + plotWidthPx * fraction(version, range.from, range.to);
  const y = (balance: bigint) =>
    PADDING_PX.top + plotHeightPx * (1 - fraction(balance, ticks[0]!, ticks.at(-1)!));
  return { widthPx, left, ticks, lowest, highest, label, x, y };
}

interface ChartProps {
  readonly range: VersionRange;
  /** Ascending by version. */
  readonly samples: readonly Sample[];
  readonly unit: AssetUnit | undefined;
  /** The version that the reader requested; it is marked. */
  readonly marked: bigint | undefined;
}

/** The chart with its readout and table, as wide as its container. */
export function BalanceChart({ range, samples, unit, marked }: ChartProps) {
  const plot = useRef<HTMLDivElement>(null);
  const [widthPx, setWidthPx] = useState(MIN_WIDTH_PX);
  /** The version that the reader chose; the last sample until then. */
  const [chosen, setChosen] = useState<bigint>();
  const id = useId();
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      setWidthPx(Math.max(MIN_WIDTH_PX, Math.floor(entry!.contentRect.width)));
    });
    observer.observe(plot.current!);
    return () => observer.disconnect();
  }, []);
  const scale = makeScale(range, samples, widthPx, unit);
  const found = samples.findIndex(({ version }) => version === chosen);
  const index = found < 0 ? samples.length - 1 : found;
  const shown = samples[index];
  const readout = shown && `Version ${groupDigits(shown.version)}: ${outcomeText(shown.outcome)}`;
  const point = (event: PointerEvent): void => {
    const xPx = event.clientX - plot.current!.getBoundingClientRect().left;
    const distance = ({ version }: Sample) => Math.abs(scale.x(version) - xPx);
    if (samples.length === 0) return;
    setChosen(samples.reduce((a, b) => (distance(b) < distance(a) ? b : a)).version);
  };
  return (
    <div class="chart">
      <div class="plot" ref={plot} onPointerMove={point}>
        <Plot {...{ range, samples, scale, unit, marked }} cursor={shown?.version} />
      </div>
      <div class="sample-control">
        <label for={id}>Sample</label>
        <input
          id={id}
          type="range"
          min={0}
          max={Math.max(0, samples.length - 1)}
          value={index}
          aria-valuetext={readout}
          onInput={(event) => setChosen(samples[Number(event.currentTarget.value)]?.version)}
        />
        <output class="readout">{readout}</output>
      </div>
      <p class="legend">
        {scale.ticks[0] !== 0n && <strong>The axis of balances does not begin at zero. </strong>}
        Dot: asked. Thin line: equal at both ends. Box: it changed somewhere inside. Hatched with a
        cross: the node has no answer there, such as pruned history.
      </p>
      <details>
        <summary>Samples as a table</summary>
        <Table style="samples" caption="Samples" columns={['Version', 'Balance']}>
          {samples.map(({ version, outcome }) => (
            <tr key={version}>
              <td class="number">{groupDigits(version)}</td>
              <td class="number">{outcomeText(outcome)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </div>
  );
}

interface PlotProps extends ChartProps {
  readonly scale: Scale;
  readonly cursor: bigint | undefined;
}

function Plot({ range, samples, scale, unit, marked, cursor }: PlotProps) {
  const hatch = useId();
  const { widthPx, left, x, y } = scale;
  const right = widthPx - PADDING_PX.right;
  const radius = widthPx < NARROW_WIDTH_PX ? SMALL_DOT_RADIUS_PX : DOT_RADIUS_PX;
  const isMarked = marked !== undefined && marked >= range.from && marked <= range.to;
  return (
    <svg
      width={widthPx}
      height={HEIGHT_PX}
      viewBox={`0 0 ${widthPx} ${HEIGHT_PX}`}
      role="img"
      aria-label={summary(range, samples, scale)}
    >
      <defs>
        <pattern
          id={hatch}
          width={6}
          height={6}
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <line class="hatch" x1={0} y1={0} x2={0} y2={6} />
        </pattern>
      </defs>
      <text x={PADDING_PX.left} y={16}>
        {unit === undefined ? 'in the smallest unit' : `in ${unit.symbol}`}
      </text>
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
          <text x={left - 6} y={y(tick) + 4} text-anchor="end">
            {scale.label(tick)}
          </text>
        </g>
      ))}
      {samples.slice(1).map((after, at) => gap(samples[at]!, after, scale, hatch))}
      <line class="axis" x1={left} x2={right} y1={BOTTOM_PX} y2={BOTTOM_PX} />
      {samples.map(({ version, outcome }) =>
        outcome.kind === 'balance' ? (
          <circle key={version} cx={x(version)} cy={y(outcome.balance)} r={radius} />
        ) : (
          <path
            key={version}
            class="cross"
            d={`M${x(version) - 3} ${BOTTOM_PX - 6}l6 6m0 -6l-6 6`}
          />
        ),
      )}
      {isMarked && (
        <>
          <line class="marked" x1={x(marked)} x2={x(marked)} y1={20} y2={BOTTOM_PX} />
          <text x={x(marked)} y={16} text-anchor={x(marked) > widthPx / 2 ? 'end' : 'start'}>
            version {groupDigits(marked)}
          </text>
        </>
      )}
      {cursor !== undefined && (
        <line class="cursor" x1={x(cursor)} x2={x(cursor)} y1={PADDING_PX.top - 6} y2={BOTTOM_PX} />
      )}
      <text x={left} y={HEIGHT_PX - 10}>
        version {groupDigits(range.from)}
      </text>
      {range.from !== range.to && (
        <text x={right} y={HEIGHT_PX - 10} text-anchor="end">
          {groupDigits(range.to)}
        </text>
      )}
    </svg>
  );
}

/** The shape between two neighbouring samples. */
function gap(before: Sample, after: Sample, { x, y }: Scale, hatch: string) {
  const key = before.version;
  const left = x(before.version);
  const width = x(after.version) - left;
  if (before.outcome.kind === 'refused' || after.outcome.kind === 'refused') {
    const area = { x: left, width, y: PADDING_PX.top, height: BOTTOM_PX - PADDING_PX.top };
    return <rect key={key} class="refused" {...area} fill={`url(#${hatch})`} />;
  }
  const [y1, y2] = [y(before.outcome.balance), y(after.outcome.balance)];
  if (y1 === y2) {
    return <line key={key} class="level" x1={left} x2={left + width} y1={y1} y2={y2} />;
  }
  const box = { x: left, width, y: Math.min(y1, y2), height: Math.abs(y2 - y1) };
  return <rect key={key} class="unknown" {...box} />;
}

function summary({ from, to }: VersionRange, samples: readonly Sample[], scale: Scale): string {
  const refused = samples.filter(({ outcome }) => outcome.kind === 'refused').length;
  const missing = refused === 0 ? '' : `; ${counted(refused, 'sample')} refused`;
  return (
    `Balance at ${counted(samples.length, 'version')} from ${groupDigits(from)} to ` +
    `${groupDigits(to)}: lowest ${scale.label(scale.lowest)}, ` +
    `highest ${scale.label(scale.highest)}${missing}`
  );
}
