/** Gas of two traces by function, side by side. */
import { comparedGas } from '../../../execution/trace/compared-gas.ts';
import type { Trace } from '../../../execution/trace/trace-shape.ts';
import { escapeInvisible } from '../../visible-text.ts';
import { table } from '../table.ts';

export function comparedGasText(first: Trace, second: Trace): string {
  const { unit } = first.gas;
  const shown = (amount: number) =>
    (amount / unit).toLocaleString('en', { maximumFractionDigits: 3 });
  const rows = comparedGas(first, second).map(({ function: name, calls, own }) => [
    escapeInvisible(name),
    `${calls[0]} → ${calls[1]}`,
    shown(own[0]),
    shown(own[1]),
    `${own[1] > own[0] ? '+' : ''}${shown(own[1] - own[0])}`,
  ]);
  const parts = [...new Set([...first.parts, ...second.parts].map(({ name }) => name))];
  const ownOf = ({ parts: all }: Trace, name: string) =>
    all.find((part) => part.name === name)?.gas.own ?? 0;
  for (const name of parts) {
    const [one, other] = [ownOf(first, name), ownOf(second, name)];
    if (one !== other) rows.push([`(${name})`, '', shown(one), shown(other), shown(other - one)]);
  }
  const used = [first, second].map(({ gas }) => Number(gas.used ?? 0));
  rows.push(['gas used', '', `${used[0]}`, `${used[1]}`, `${used[1]! - used[0]!}`]);
  return table(['function', 'calls', 'first', 'second', 'difference'], rows);
}
