/** The framework of the reference's chain, whose functions and natives are called in a world of the test's own. */

import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { DEFAULT_LOADER_LIMITS } from '../../src/move/modules/compiled.ts';
import { MAGIC } from '../../src/move/modules/format.ts';
import { modulesFrom } from '../../src/move/modules/module-set.ts';
import { writtenValue } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE, type Address } from '../../src/move/types/address.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { run, VIEW_LIMITS } from '../../src/vm/machine/run.ts';
import { Meter } from '../../src/vm/meter.ts';
import { NativeAbort, type NativeContext, type NativeResult } from '../../src/vm/native.ts';
import { frameworkNative } from '../../src/vm/natives/index.ts';
import { Program } from '../../src/vm/program/program.ts';
import { ByteVector, Reference, type Value } from '../../src/vm/value.ts';
import { VmError } from '../../src/vm/vm-error.ts';
import type { World } from '../../src/vm/world.ts';
import { referenceFile } from '../reference/reference-chain.ts';

let program: Program | undefined;

export function frameworkProgram(): Program {
  if (program !== undefined) return program;
  const bytecodes: Uint8Array[] = [];
  for (const { op } of readGenesis(referenceFile('genesis.blob')).writes()) {
    const { bytes: written } = writtenValue(op)!;
    if (MAGIC.every((byte, index) => written[index] === byte)) bytecodes.push(written);
  }
  program = new Program(modulesFrom(bytecodes, DEFAULT_LOADER_LIMITS));
  return program;
}

/** What a test's world has; flags are enabled unless they are named. */
export interface TestState {
  /** BCS by `{address} {type}`, the address in full. */
  readonly resources?: Readonly<Record<string, Uint8Array>>;
  /** BCS by `{handle} {key in hex}`. */
  readonly items?: Readonly<Record<string, Uint8Array>>;
  readonly disabledFlags?: readonly number[];
}

function worldOf({ resources = {}, items = {}, disabledFlags = [] }: TestState): World {
  return {
    modules: frameworkProgram().modules,
    nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
    isFeatureEnabled: (flag) => !disabledFlags.includes(flag),
    resource: (address, tag) => resources[`${address} ${formatStructTag(tag)}`],
    tableItem: (handle: Address, key) => items[`${handle} ${Buffer.from(key).toString('hex')}`],
  };
}

function split(name: string): [module: { address: Address; name: string }, name: string] {
  const [module, member] = name.split('::');
  return [{ address: ADDRESS_ONE, name: module! }, member!];
}

const typesOf = (types: readonly string[]) =>
  types.map((type) => frameworkProgram().type(parseTypeTag(type)));

/** The results of a function of the framework, `module::name`; the code and text of an abort. */
export async function callFramework(
  name: string,
  types: readonly string[] = [],
  args: readonly Value[] = [],
  state: TestState = {},
): Promise<readonly Value[] | string> {
  const world = worldOf(state);
  const linked = frameworkProgram();
  const call = {
    function: await linked.function(...split(name)),
    typeArguments: typesOf(types),
    args,
  };
  try {
    return await run({ program: linked, world, natives: frameworkNative }, call);
  } catch (error) {
    if (!(error instanceof VmError)) throw error;
    return error.status === 'ABORTED' ? abortOf(error.subStatus!, error.text) : error.status;
  }
}

function abortOf(code: bigint, text: string | undefined): string {
  return `abort 0x${code.toString(16)}${text === undefined ? '' : `: ${text}`}`;
}

/** Natives called one after the other in one run. */
export class NativeRun {
  /** How often others had their turn. */
  turns = 0;
  readonly #world: World;
  readonly #extensions = new Map<unknown, unknown>();
  readonly #meter = new Meter(VIEW_LIMITS);

  constructor(state: TestState = {}) {
    const world = worldOf(state);
    const nextTurn = () => {
      this.turns += 1;
      return world.nextTurn();
    };
    this.#world = { ...world, nextTurn };
  }

  /** The results of a native, `module::name`; the code of an abort. */
  async call(
    name: string,
    types: readonly string[],
    ...args: readonly Value[]
  ): Promise<readonly Value[] | string> {
    const context: NativeContext = {
      typeArguments: typesOf(types),
      world: this.#world,
      program: frameworkProgram(),
      transaction: undefined,
      extensions: this.#extensions,
      meter: this.#meter,
      resource: () => undefined,
      callers: () => [],
    };
    const native = frameworkNative(...split(name))!;
    const result = await (native(context, args) as MaybePromise<NativeResult>);
    if (result instanceof NativeAbort) return abortOf(result.code, result.message);
    return result as readonly Value[];
  }
}

export const bytes = (content: Uint8Array | string): ByteVector =>
  new ByteVector(Uint8Array.from(Buffer.from(content)));
export const string = (text: string): Value => [bytes(text)];
export const reference = (value: Value): Reference => new Reference([value], 0);

/** The text of a `String`. */
export function textOf(value: Value): string {
  return Buffer.from(((value as Value[])[0] as ByteVector).bytes).toString();
}
