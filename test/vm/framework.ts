/** The framework of the reference's chain, whose functions and natives are called in a test's own world. */

import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { settle } from '../../src/maybe-promise.ts';
import { DEFAULT_LOADER_LIMITS } from '../../src/move/modules/compiled.ts';
import { MAGIC } from '../../src/move/modules/format.ts';
import { modulesFrom } from '../../src/move/modules/module-set.ts';
import { writtenValue } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE, type Address } from '../../src/move/types/address.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { GasMeter, NO_PRICES } from '../../src/vm/gas/gas-meter.ts';
import { ValueSizes } from '../../src/vm/gas/value-size.ts';
import { run, VIEW_LIMITS } from '../../src/vm/machine/run.ts';
import { Meter } from '../../src/vm/meter.ts';
import {
  Extensions,
  NativeAbort,
  type NativeContext,
  type NativeResult,
} from '../../src/vm/native.ts';
import { frameworkNative } from '../../src/vm/natives/index.ts';
import { Program } from '../../src/vm/program/program.ts';
import { VmError } from '../../src/vm/status/status.ts';
import { ByteVector, Reference, type Value } from '../../src/vm/value.ts';
import type { Session, World } from '../../src/vm/world.ts';
import { referenceFile } from '../reference/reference-chain.ts';

let program: Program | undefined;

export function frameworkProgram(): Program {
  program ??= new Program(modulesFrom(frameworkBytecodes(), DEFAULT_LOADER_LIMITS));
  return program;
}

/** The modules in the genesis of the recorded chain. */
export function frameworkBytecodes(): Uint8Array[] {
  return [...readGenesis(referenceFile('genesis.blob')).writes()]
    .map(({ op }) => writtenValue(op)!.bytes)
    .filter((bytes) => MAGIC.every((byte, index) => bytes[index] === byte));
}

/** The state of a test's world; flags are enabled unless they are listed. */
export interface TestState {
  /** BCS by `{address} {type}`, with the full address. */
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

/** The results of a framework function, `module::name`, or the code and text of an abort. */
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

/** Records charges by names of the gas schedule. */
class NotingGas extends GasMeter {
  readonly charged = new Map<string, number>();

  override chargeFor(name: string, units = 1): void {
    this.charged.set(name, (this.charged.get(name) ?? 0) + units);
  }
}

/** Whether the gas schedule of the chain has a price. */
export function isPriced(name: string): boolean {
  genesisFile ??= referenceFile('genesis.blob');
  // Each name is preceded by its length.
  return genesisFile.includes(Buffer.concat([Buffer.of(name.length), Buffer.from(name)]));
}
let genesisFile: Buffer | undefined;

/** Natives called one after the other in one run. */
export class NativeRun {
  /** Number of turns given to others. */
  turns = 0;
  readonly #gas = new NotingGas(NO_PRICES, Number.POSITIVE_INFINITY);
  readonly #world: World;
  /** The session of the natives; absent: a view. */
  session: Session | undefined;
  readonly #extensions = new Extensions();
  readonly #meter = new Meter(VIEW_LIMITS);

  constructor(state: TestState = {}) {
    const world = worldOf(state);
    const nextTurn = () => {
      this.turns += 1;
      return world.nextTurn();
    };
    this.#world = { ...world, nextTurn };
  }

  /** Charges since the last call: units by names of the gas schedule. */
  takeCharges(): Record<string, number> {
    const { charged } = this.#gas;
    const found = Object.fromEntries(charged);
    charged.clear();
    return found;
  }

  /** The results of a native, `module::name`, or the code of an abort. */
  async call(
    name: string,
    types: readonly string[],
    ...args: readonly Value[]
  ): Promise<readonly Value[] | string> {
    const context: NativeContext = {
      typeArguments: typesOf(types),
      world: this.#world,
      program: frameworkProgram(),
      session: this.session,
      extensions: this.#extensions,
      sessionExtensions: this.#extensions,
      meter: this.#meter,
      resource: () => ({ isPresent: false, loadedBytes: 0 }),
      gas: this.#gas,
      sizes: new ValueSizes(NO_PRICES),
      callers: () => [],
    };
    const native = frameworkNative(...split(name))!;
    const result = await settle<NativeResult, NativeResult>(
      () => native(context, args),
      (given) => given,
      (thrown) => {
        if (thrown instanceof NativeAbort) return thrown;
        throw thrown;
      },
    );
    if (result instanceof NativeAbort) return abortOf(result.code, result.text);
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
