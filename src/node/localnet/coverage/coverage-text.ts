/** Coverage for people: modules with their functions, and the instructions not executed. */
import {
  branchesOf,
  type FunctionCoverage,
  type ModuleCoverage,
} from '../../../execution/coverage-recorder.ts';
import { formatAddress } from '../../../move/types/address.ts';

interface Share {
  readonly done: number;
  readonly all: number;
}

export function coverageText(modules: readonly ModuleCoverage[]): string {
  const parts = modules.map(({ id, functions }) => {
    const name = `${formatAddress(id.address)}::${id.name}`;
    const lines = functions.map((one) => {
      const uncovered = uncoveredRanges(one);
      const rest = uncovered === '' ? '' : `  not done: ${uncovered}`;
      return `  ${line(one.name, instructionsOf(one), branchShareOf(one))}${rest}\n`;
    });
    const all = line(name, total(functions, instructionsOf), total(functions, branchShareOf));
    return `${all}\n${lines.join('')}`;
  });
  const functions = modules.flatMap((module) => module.functions);
  const sums = [total(functions, instructionsOf), total(functions, branchShareOf)] as const;
  return `${parts.join('\n')}${parts.length === 0 ? '' : '\n'}${line('all modules', ...sums)}\n`;
}

function line(name: string, instructions: Share, branches: Share): string {
  return `${name}  instructions ${shareText(instructions)}  branches ${shareText(branches)}`;
}

function shareText({ done, all }: Share): string {
  const percent = all === 0 ? 100 : (done / all) * 100;
  // Rounded down: only full coverage is 100 %.
  return `${done}/${all} ${(Math.floor(percent * 10) / 10).toFixed(1)} %`;
}

function instructionsOf({ hits }: FunctionCoverage): Share {
  return { done: hits.filter((count) => count > 0).length, all: hits.length };
}

/** Each conditional branch has two ways. */
function branchShareOf(one: FunctionCoverage): Share {
  const places = branchesOf(one);
  const takenOutcomes = places.map(
    (at) => Number(one.jumps[at]! > 0) + Number(one.hits[at]! > one.jumps[at]!),
  );
  return { done: takenOutcomes.reduce((sum, count) => sum + count, 0), all: places.length * 2 };
}

function total(
  functions: readonly FunctionCoverage[],
  shareOf: (one: FunctionCoverage) => Share,
): Share {
  const shares = functions.map(shareOf);
  const sum = (part: keyof Share) => shares.reduce((all, share) => all + share[part], 0);
  return { done: sum('done'), all: sum('all') };
}

/** `3-7, 12` */
function uncoveredRanges({ hits }: FunctionCoverage): string {
  const ranges: string[] = [];
  for (let at = 0; at < hits.length; at += 1) {
    if (hits[at]! > 0) continue;
    const first = at;
    while (at + 1 < hits.length && hits[at + 1] === 0) at += 1;
    ranges.push(first === at ? `${at}` : `${first}-${at}`);
  }
  return ranges.join(', ');
}
