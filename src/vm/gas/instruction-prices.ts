/** Prices of instructions and calls, by the gas schedule (docs/spec/gas.md §2.2). */
import { OPCODES } from '../../move/modules/opcodes.ts';
import type { Layout } from '../../move/values/layout.ts';
import type { GasPrices } from './gas-meter.ts';
import { ValueSizes } from './value-size.ts';

/** The first version of the schedule that charges for creating types. */
const TYPES_SINCE = 14;
/** The first version that charges for the locals of a function that is called. */
const LOCALS_SINCE = 3;

/** Names of the schedule that do not follow from the name of the instruction. */
const NAMES: Readonly<Record<string, string>> = {
  Xor: 'bit_xor',
  Shl: 'bit_shl',
  Shr: 'bit_shr',
  PackVariant: 'pack',
  PackVariantGeneric: 'pack_generic',
  UnpackVariant: 'unpack',
  UnpackVariantGeneric: 'unpack_generic',
};
/** Instructions whose price has parts; the others have one price. */
const WITH_BASE = new Set([
  ...['LdConst', 'CopyLoc', 'MoveLoc', 'StLoc', 'ReadRef', 'WriteRef', 'Eq', 'Neq'],
  ...['ImmBorrowGlobal', 'ImmBorrowGlobalGeneric', 'MutBorrowGlobal', 'MutBorrowGlobalGeneric'],
  ...['Exists', 'ExistsGeneric', 'MoveFrom', 'MoveFromGeneric', 'MoveTo', 'MoveToGeneric'],
  ...['VecLen', 'VecImmBorrow', 'VecMutBorrow', 'VecPushBack', 'VecPopBack', 'VecSwap'],
  ...['Pack', 'PackGeneric', 'PackVariant', 'PackVariantGeneric', 'VecPack', 'VecUnpack'],
  ...['Unpack', 'UnpackGeneric', 'UnpackVariant', 'UnpackVariantGeneric'],
  ...['PackClosure', 'PackClosureGeneric', 'AbortMsg'],
]);
const CHARGED_WHEN_RUN = new Set(['Call', 'CallGeneric', 'CallClosure']);

const PRICE_NAMES = new Map(
  OPCODES.flatMap((info) => {
    if (info === undefined) return [];
    const { name } = info;
    const snake = name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
    return [[name, `instr.${NAMES[name] ?? snake}${WITH_BASE.has(name) ? '.base' : ''}`] as const];
  }),
);

export class InstructionPrices {
  readonly prices: GasPrices;
  readonly sizes: ValueSizes;
  readonly perTypeNode: number;
  readonly byOpcode: readonly number[];
  readonly #perLocal: boolean;

  constructor(prices: GasPrices) {
    this.prices = prices;
    this.sizes = new ValueSizes(prices);
    const { featureVersion } = prices;
    this.perTypeNode = featureVersion < TYPES_SINCE ? 0 : prices.of('instr.subst_ty_per_node');
    this.#perLocal = featureVersion >= LOCALS_SINCE;
    this.byOpcode = OPCODES.map((info) =>
      info === undefined || CHARGED_WHEN_RUN.has(info.name)
        ? 0
        : prices.of(PRICE_NAMES.get(info.name)!),
    );
  }

  /** A call by name: `call`, or `call_generic` with type arguments. */
  call(kind: 'call' | 'call_generic', args: number, typeArguments: number, locals: number): number {
    const of = (part: string): number => this.prices.of(`instr.${kind}.${part}`);
    return (
      of('base') +
      of('per_arg') * args +
      of('per_ty_arg') * typeArguments +
      (this.#perLocal ? of('per_local') * locals : 0)
    );
  }
}

/** Costs of a function with its type arguments, native or not. */
export interface CallCosts {
  readonly of: InstructionPrices;
  /** Costs of a call by name, and of one by a function value. */
  readonly named: number;
  readonly dynamic: number;
  readonly frame: number;
  /** The numbers of a native's price, in order; empty for one that charges all of it itself. */
  readonly native: readonly number[];
  /** By instruction; empty for a native. */
  readonly amounts: Float64Array;
  /** By function instantiation: the type arguments that are created on its first call. */
  readonly typeArguments: readonly { readonly amount: number }[];
  /** Layouts of values whose size is charged for, by `FunctionCode.sized`; filled in on demand. */
  readonly layouts: (Layout | undefined)[];
  /** Costs by the previously used prices: prologues and epilogues cost nothing. */
  before: CallCosts | undefined;
}
