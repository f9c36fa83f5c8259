/** Gas of a trace by call stack, as text for other tools and as a picture (docs/traces.md). */
import type { Trace, TraceStep } from './trace-shape.ts';

/** Gas by stacks: the names of a part and of the functions that run, joined by semicolons. */
function gasByStack({ parts, gas: all, writes }: Trace): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const add = (stack: string, gas: number, steps: readonly TraceStep[]): void => {
    if (gas > 0) found.set(stack, (found.get(stack) ?? 0) + gas);
    for (const step of steps) {
      if (step.kind !== 'call') continue;
      add(`${stack};${step.function}`, step.gas!.own, step.steps!);
    }
  };
  for (const { name, gas, steps } of parts) {
    if (name !== 'changes') add(name, gas.own, steps);
  }
  // The storage price is attributed to the values that take more storage.
  let changes = parts.find(({ name }) => name === 'changes')?.gas.own ?? 0;
  const feeOctas = Number(all.storage_fee_octas);
  for (const { kind, type, module, deposit_octas: octas = '0' } of writes) {
    if (all.storage === 0 || Number(octas) <= 0) continue;
    const gas = Math.floor((all.storage * Number(octas)) / feeOctas);
    add(`changes;storage;${type ?? module ?? kind}`, gas, []);
    changes -= gas;
  }
  add('changes', changes, []);
  return found;
}

/** Collapsed stacks, a line `a;b;c N` each, for flamegraph.pl, inferno and speedscope. N is internal gas. */
export function collapsedStacks(trace: Trace): string {
  const lines = [...gasByStack(trace)].map(([stack, gas]) => `${stack} ${gas}\n`);
  return lines.sort().join('');
}

const WIDTH = 1_200;
const ROW = 18;
const TOP = 30;
/** Approximate width of a letter, and the narrowest box that is drawn; in pixels. */
const LETTER = 6.6;
const MIN_BOX_WIDTH = 0.4;
/** Boxes of the two pictures that are drawn, the widest first: a browser draws as many without a pause. */
export const MAX_BOXES = 5_000;

/** Shared, because creating a format for each number would take most of the time. */
const GAS_FORMAT = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });

interface Box {
  readonly name: string;
  own: number;
  total: number;
  readonly inside: Map<string, Box>;
}

function boxOf(name: string): Box {
  return { name, own: 0, total: 0, inside: new Map() };
}

/** Parts that run no code. */
const WITHOUT_CODE = /^(?:changes|intrinsic)(?:;|$)/;

/**
 * A picture in which the width of a function is its gas, with its callees below it: once with all charges, and once
 * with code alone, for which storage often leaves little room.
 */
export function flameGraph(trace: Trace, title: string): string {
  const stacks = [...gasByStack(trace)];
  const roots = [
    rootOf('everything', stacks),
    rootOf(
      'code alone',
      stacks.filter(([stack]) => !WITHOUT_CODE.test(stack)),
    ),
  ];
  const shapes: string[] = [];
  let row = 0;
  for (const root of roots) {
    if (root.total === 0) continue;
    const scale = WIDTH / root.total;
    const least = minWeight(root, MIN_BOX_WIDTH / scale);
    row = 1 + draw(root, { left: 0, row, scale, least, unit: trace.gas.unit }, shapes);
  }
  const height = TOP + row * ROW;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="100%" ` +
    'font-family="ui-monospace, monospace" font-size="11">\n' +
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>\n` +
    `<text x="4" y="18" font-size="13">${escaped(title)}</text>\n${shapes.join('\n')}\n</svg>\n`
  );
}

function rootOf(name: string, stacks: readonly (readonly [string, number])[]): Box {
  const root = boxOf(name);
  for (const [stack, gas] of stacks) {
    let box = root;
    box.total += gas;
    for (const part of stack.split(';')) {
      const next = box.inside.get(part) ?? boxOf(part);
      box.inside.set(part, next);
      box = next;
      box.total += gas;
    }
    box.own += gas;
  }
  return root;
}

/** The least gas of a box that is drawn, so that no more than half of all boxes are. @param lowest at least this */
function minWeight(root: Box, lowest: number): number {
  const weights: number[] = [];
  const collect = ({ total, inside }: Box): void => {
    if (total < lowest) return;
    weights.push(total);
    for (const box of inside.values()) collect(box);
  };
  collect(root);
  if (weights.length <= MAX_BOXES / 2) return lowest;
  weights.sort((one, other) => other - one);
  // Boxes as wide as the first omitted one are not drawn either.
  const [last, firstOmitted] = [weights[MAX_BOXES / 2 - 1]!, weights[MAX_BOXES / 2]!];
  return last > firstOmitted ? last : (weights.findLast((total) => total > firstOmitted) ?? last);
}

interface Place {
  readonly left: number;
  readonly row: number;
  readonly scale: number;
  /** Boxes with less gas are omitted, with everything inside them. */
  readonly least: number;
  readonly unit: number;
}

/** @returns the number of rows, down to its lowest */
function draw(box: Box, { left, row, scale, least, unit }: Place, shapes: string[]): number {
  if (box.total < least) return row;
  const width = box.total * scale;
  const top = TOP + row * ROW;
  const gas = (amount: number) => GAS_FORMAT.format(amount / unit);
  const tooltip = `${box.name}: ${gas(box.total)} gas units, ${gas(box.own)} of its own`;
  const letters = Math.floor((width - 6) / LETTER);
  const label =
    letters < 3
      ? ''
      : `<text x="${rounded(left + 3)}" y="${top + 13}">${escaped(shortened(box.name, letters))}</text>`;
  shapes.push(
    `<g><title>${escaped(tooltip)}</title><rect x="${rounded(left)}" y="${top}" width="${rounded(width)}" ` +
      `height="${ROW - 1}" fill="hsl(${hueOf(box.name)} 70% 75%)"/>${label}</g>`,
  );
  let lowest = row + 1;
  let at = left;
  const byGas = [...box.inside.values()].sort((one, other) => other.total - one.total);
  for (const inside of byGas) {
    lowest = Math.max(lowest, draw(inside, { left: at, row: row + 1, scale, least, unit }, shapes));
    at += inside.total * scale;
  }
  return lowest;
}

/** Keeps the end of a long name, which is the function. */
function shortened(name: string, letters: number): string {
  return name.length <= letters ? name : `…${name.slice(1 - letters)}`;
}

/** Functions of a module share a colour. */
function hueOf(name: string): number {
  let hash = 0;
  for (const letter of name.replace(/::[^:]*$/, ''))
    hash = (hash * 31 + letter.charCodeAt(0)) % 360;
  return hash;
}

function rounded(pixels: number): string {
  return pixels.toFixed(2);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
