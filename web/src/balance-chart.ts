/**
 * A balance over versions as an SVG chart. Dots are what the node said. Between two dots nothing is known: where both
 * ends are equal a thin line joins them, where they differ a box spans all that may have been; versions the node
 * refused (pruned history) are hatched. The same samples are in a slider's readout and in a table.
 */
import type { Sample, SampleOutcome, VersionRange } from './balance-history.ts';
import { element, freshId, svgElement } from './dom.ts';
import { counted, groupDigits } from './number-text.ts';

const HEIGHT_PX = 240;
const MIN_WIDTH_PX = 240;
const PADDING_PX = { top: 30, right: 14, bottom: 30, left: 14 };
const DOT_RADIUS_PX = 3.5;
const SMALL_DOT_RADIUS_PX = 2.5;
/** Below this width the dots are drawn small, so that they stay apart. */
const NARROW_WIDTH_PX = 560;
/** Balances are divided in whole steps of the plot: exact integers until they become pixels. */
const SCALE_STEPS = 1_000_000n;

/** Readable text of what one request said. */
function outcomeText(outcome: SampleOutcome): string {
  if (outcome.kind === 'balance') return groupDigits(outcome.balance);
  return `${outcome.status === 0 ? 'no answer' : outcome.status} ${outcome.code}: ${outcome.message}`;
}

interface Scale {
  readonly lowest: bigint;
  readonly highest: bigint;
  x(version: bigint): number;
  y(balance: bigint): number;
}

function fraction(value: bigint, from: bigint, to: bigint): number {
  return Number(((value - from) * SCALE_STEPS) / (to - from)) / Number(SCALE_STEPS);
}

function makeScale(range: VersionRange, samples: readonly Sample[], widthPx: number): Scale {
  const balances = samples.flatMap(({ outcome }) =>
    outcome.kind === 'balance' ? [outcome.balance] : [],
  );
  balances.sort((a, b) => (a < b ? -1 : 1));
  const lowest = balances[0] ?? 0n;
  const highest = balances.at(-1) ?? 0n;
  const plotWidthPx = widthPx - PADDING_PX.left - PADDING_PX.right;
  const plotHeightPx = HEIGHT_PX - PADDING_PX.top - PADDING_PX.bottom;
  return {
    lowest,
    highest,
    x: (version) =>
      range.from === range.to
        ? widthPx / 2
        : PADDING_PX.left + plotWidthPx * fraction(version, range.from, range.to),
    y: (balance) =>
      lowest === highest
        ? PADDING_PX.top + plotHeightPx / 2
        : PADDING_PX.top + plotHeightPx * (1 - fraction(balance, lowest, highest)),
  };
}

/** The chart with its readout and table; follows the width it is given until `signal` aborts. */
export class BalanceChart {
  readonly node: HTMLElement;
  readonly #range: VersionRange;
  readonly #plot = element('div', { class: 'plot' });
  readonly #readout = element('output', { class: 'readout' });
  readonly #slider: HTMLInputElement;
  readonly #table = element('tbody');
  readonly #hatchId = freshId('hatch');
  #samples: readonly Sample[] = [];
  #widthPx = MIN_WIDTH_PX;

  constructor(range: VersionRange, signal: AbortSignal) {
    this.#range = range;
    const sliderId = freshId('sample');
    this.#slider = element('input', { id: sliderId, type: 'range', min: 0, max: 0, value: 0 });
    this.#slider.addEventListener('input', () => this.#select());
    const head = ['Version', 'Balance'].map((text) => element('th', { scope: 'col' }, text));
    this.node = element(
      'div',
      { class: 'chart' },
      this.#plot,
      element(
        'div',
        { class: 'sample-control' },
        element('label', { for: sliderId }, 'Sample'),
        this.#slider,
        this.#readout,
      ),
      element('p', { class: 'legend' }, LEGEND),
      element(
        'details',
        {},
        element('summary', {}, 'Samples as a table'),
        element(
          'table',
          { class: 'samples' },
          element('thead', {}, element('tr', {}, ...head)),
          this.#table,
        ),
      ),
    );
    this.#plot.addEventListener('pointermove', (event) => this.#point(event));
    const observer = new ResizeObserver(([entry]) => {
      this.#widthPx = Math.max(MIN_WIDTH_PX, Math.floor(entry!.contentRect.width));
      this.#draw();
    });
    observer.observe(this.#plot);
    signal.addEventListener('abort', () => observer.disconnect(), { once: true });
  }

  /** Shows the samples, ascending by version. The last one stays selected until the reader chooses. */
  show(samples: readonly Sample[]): void {
    const chosen = this.#samples[Number(this.#slider.value)];
    const wasLast = Number(this.#slider.value) === this.#samples.length - 1;
    this.#samples = samples;
    const last = samples.length - 1;
    const index = wasLast ? last : samples.findIndex(({ version }) => version === chosen?.version);
    this.#slider.max = String(last);
    this.#slider.value = String(index < 0 ? last : index);
    this.#table.replaceChildren(
      ...samples.map(({ version, outcome }) =>
        element(
          'tr',
          {},
          element('td', { class: 'number' }, groupDigits(version)),
          element('td', { class: 'number' }, outcomeText(outcome)),
        ),
      ),
    );
    this.#draw();
  }

  #point(event: PointerEvent): void {
    const xPx = event.clientX - this.#plot.getBoundingClientRect().left;
    const scale = makeScale(this.#range, this.#samples, this.#widthPx);
    let nearest = 0;
    let nearestPx = Number.POSITIVE_INFINITY;
    this.#samples.forEach(({ version }, at) => {
      const distancePx = Math.abs(scale.x(version) - xPx);
      if (distancePx < nearestPx) [nearest, nearestPx] = [at, distancePx];
    });
    if (Number(this.#slider.value) === nearest) return;
    this.#slider.value = String(nearest);
    this.#select();
  }

  #select(): void {
    const sample = this.#samples[Number(this.#slider.value)];
    if (sample === undefined) return;
    const text = `Version ${groupDigits(sample.version)}: ${outcomeText(sample.outcome)}`;
    this.#readout.textContent = text;
    this.#slider.setAttribute('aria-valuetext', text);
    const scale = makeScale(this.#range, this.#samples, this.#widthPx);
    const cursor = this.#plot.querySelector('.cursor');
    const x = scale.x(sample.version);
    for (const end of ['x1', 'x2']) cursor?.setAttribute(end, String(x));
  }

  #draw(): void {
    const scale = makeScale(this.#range, this.#samples, this.#widthPx);
    const bottom = HEIGHT_PX - PADDING_PX.bottom;
    const drawing = svgElement(
      'svg',
      {
        width: this.#widthPx,
        height: HEIGHT_PX,
        viewBox: `0 0 ${this.#widthPx} ${HEIGHT_PX}`,
        role: 'img',
        'aria-label': this.#summary(scale),
      },
      this.#hatch(),
      ...this.#gaps(scale),
      svgElement('line', { class: 'axis', ...horizontal(this.#widthPx, bottom) }),
      ...this.#dots(scale),
      svgElement('line', { class: 'cursor', x1: -9, x2: -9, y1: PADDING_PX.top - 6, y2: bottom }),
      ...this.#labels(scale),
    );
    this.#plot.replaceChildren(drawing);
    this.#select();
  }

  #summary({ lowest, highest }: Scale): string {
    const { from, to } = this.#range;
    const refused = this.#samples.filter(({ outcome }) => outcome.kind === 'refused').length;
    const missing = refused === 0 ? '' : `; ${counted(refused, 'sample')} refused`;
    return (
      `Balance at ${counted(this.#samples.length, 'version')} from ${groupDigits(from)} to ` +
      `${groupDigits(to)}: lowest ${groupDigits(lowest)}, highest ${groupDigits(highest)}${missing}`
    );
  }

  #hatch(): SVGElement {
    const line = svgElement('line', { class: 'hatch', x1: 0, y1: 0, x2: 0, y2: 6 });
    const pattern = {
      id: this.#hatchId,
      width: 6,
      height: 6,
      patternUnits: 'userSpaceOnUse',
      patternTransform: 'rotate(45)',
    };
    return svgElement('defs', {}, svgElement('pattern', pattern, line));
  }

  /** What is between neighbouring samples. */
  #gaps(scale: Scale): SVGElement[] {
    const height = HEIGHT_PX - PADDING_PX.top - PADDING_PX.bottom;
    return this.#samples.slice(1).map((after, index) => {
      const before = this.#samples[index]!;
      const [x, width] = span(scale.x(before.version), scale.x(after.version));
      if (before.outcome.kind === 'refused' || after.outcome.kind === 'refused') {
        const fill = `url(#${this.#hatchId})`;
        const area = { x, width, y: PADDING_PX.top, height, fill, class: 'refused' };
        return svgElement('rect', area);
      }
      const [y1, y2] = [scale.y(before.outcome.balance), scale.y(after.outcome.balance)];
      if (y1 === y2) return svgElement('line', { class: 'level', x1: x, x2: x + width, y1, y2 });
      const [y, boxHeight] = span(y1, y2);
      return svgElement('rect', { class: 'unknown', x, y, width, height: boxHeight });
    });
  }

  #dots(scale: Scale): SVGElement[] {
    const bottom = HEIGHT_PX - PADDING_PX.bottom;
    const r = this.#widthPx < NARROW_WIDTH_PX ? SMALL_DOT_RADIUS_PX : DOT_RADIUS_PX;
    return this.#samples.map(({ version, outcome }) => {
      const cx = scale.x(version);
      if (outcome.kind === 'balance') {
        return svgElement('circle', { cx, cy: scale.y(outcome.balance), r });
      }
      const d = `M${cx - 3} ${bottom - 6}l6 6m0 -6l-6 6`;
      return svgElement('path', { class: 'cross', d });
    });
  }

  #labels({ lowest, highest }: Scale): SVGElement[] {
    const { from, to } = this.#range;
    const [left, right] = [PADDING_PX.left, this.#widthPx - PADDING_PX.right];
    const label = (x: number, y: number, text: string, anchor = 'start'): SVGElement =>
      svgElement('text', { x, y, 'text-anchor': anchor }, text);
    const known = this.#samples.some(({ outcome }) => outcome.kind === 'balance');
    const bottom = HEIGHT_PX - 10;
    const versions =
      from === to
        ? [label(this.#widthPx / 2, bottom, groupDigits(from), 'middle')]
        : [
            label(left, bottom, `version ${groupDigits(from)}`),
            label(right, bottom, groupDigits(to), 'end'),
          ];
    if (!known) return versions;
    const text =
      lowest === highest
        ? groupDigits(highest)
        : `${groupDigits(lowest)} to ${groupDigits(highest)}`;
    return [label(left, 16, text), ...versions];
  }
}

const LEGEND =
  'Dot: asked. Thin line: equal at both ends. Box: it changed somewhere inside. Hatched with a cross: ' +
  'the node has no answer there, such as pruned history.';

function span(a: number, b: number): [start: number, length: number] {
  return [Math.min(a, b), Math.abs(b - a)];
}

function horizontal(widthPx: number, y: number): Record<string, number> {
  return { x1: PADDING_PX.left, x2: widthPx - PADDING_PX.right, y1: y, y2: y };
}
