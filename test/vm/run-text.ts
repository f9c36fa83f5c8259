/** Runs functions of modules in the declaration language (src/sample/assembler/body-parse.ts), in a small world. */

import { assembleText } from '../../bench/bulk-ledger/framework/framework.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { DEFAULT_LOADER_LIMITS } from '../../src/move/modules/compiled.ts';
import { modulesFrom } from '../../src/move/modules/module-set.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { run, VIEW_LIMITS } from '../../src/vm/machine/run.ts';
import { Meter, type RunLimits } from '../../src/vm/meter.ts';
import type { Native } from '../../src/vm/native.ts';
import type { RunObserver } from '../../src/vm/observer.ts';
import { Program } from '../../src/vm/program/program.ts';
import { VmError } from '../../src/vm/status/status.ts';
import type { Value } from '../../src/vm/value.ts';
import type { World } from '../../src/vm/world.ts';

/** The address of the modules. */
export const CAFE = padAddress('cafe');

export interface SmallWorld {
  /** BCS by `address tag`, with the full address. */
  readonly resources?: ReadonlyMap<string, Uint8Array>;
  /** By name, whatever the module. */
  readonly natives?: Readonly<Record<string, Native>>;
  readonly limits?: Partial<RunLimits>;
  /** All reads are asynchronous. */
  readonly isSlow?: boolean;
  readonly observer?: RunObserver;
  /** Called for each turn given to others. */
  readonly onTurn?: () => void;
}

/** The linked modules of a text. */
export function programOf(text: string): Program {
  return programOfBytes(bytecodesOf(text));
}

/** The bytecode of the modules of a text, in order. */
export function bytecodesOf(text: string): Buffer[] {
  return assembleText(text, new Map([['cafe', CAFE]])).map(({ bytes }) => bytes);
}

export function programOfBytes(bytecodes: readonly Uint8Array[], isSlow = false): Program {
  const lookup = modulesFrom(bytecodes, DEFAULT_LOADER_LIMITS);
  return new Program((id) => later(lookup(id), isSlow));
}

function later<T>(value: MaybePromise<T>, isSlow: boolean): MaybePromise<T> {
  return isSlow ? Promise.resolve().then(() => value) : value;
}

export function worldOf(program: Program, small: SmallWorld): World {
  const { resources, isSlow = false, onTurn } = small;
  return {
    modules: program.modules,
    nextTurn: async () => {
      onTurn?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    isFeatureEnabled: () => false,
    resource: (address, tag) => later(resources?.get(`${address} ${formatStructTag(tag)}`), isSlow),
    tableItem: () => later(undefined, isSlow),
  };
}

/** The results of a function of `0xcafe::m`. */
export async function runIn(
  program: Program,
  name: string,
  args: readonly Value[] = [],
  small: SmallWorld & { readonly types?: readonly string[] } = {},
): Promise<readonly Value[]> {
  const target = await program.function({ address: CAFE, name: 'm' }, name);
  const typeArguments = (small.types ?? []).map((type) => program.type(parseTypeTag(type)));
  const world = worldOf(program, small);
  const natives = (_: unknown, native: string) => small.natives?.[native];
  const call = { function: target, typeArguments, args };
  const { observer } = small;
  return run({ program, world, natives, observer }, call, { ...VIEW_LIMITS, ...small.limits });
}

/** The same for the members of one module. */
export function runText(
  members: string,
  args: readonly Value[] = [],
  small: SmallWorld & { readonly types?: readonly string[] } = {},
): Promise<readonly Value[]> {
  return runIn(programOf(`module cafe::m { ${members} }`), 'f', args, small);
}

/** Why it fails: its status, with sub status and text if there are any. */
export async function failure(attempt: Promise<unknown>): Promise<unknown[]> {
  try {
    return ['no failure', await attempt];
  } catch (error) {
    if (!(error instanceof VmError)) throw error;
    const facts = [error.status, error.subStatus, error.text];
    return facts.filter((fact) => fact !== undefined);
  }
}

export function plentyMeter(): Meter {
  return new Meter(VIEW_LIMITS);
}
