import { VmError } from '../../status/status.ts';

/** What the verifier limits and allows (docs/spec/verifier.md §2). A limit that is off is `Infinity`. */
export interface VerifierConfig {
  readonly maxLoopDepth: number;
  readonly maxFunctionParameters: number;
  readonly maxFunctionReturnValues: number;
  readonly maxGenericInstantiationLength: number;
  readonly maxBasicBlocks: number;
  readonly maxBasicBlocksInScript: number;
  readonly maxValueStackSize: number;
  /** Values that the code of one block pushes. */
  readonly maxPushSize: number;
  readonly maxTypeNodes: number;
  readonly maxTypeDepth: number;
  readonly maxStructDefinitions: number;
  readonly maxStructVariants: number;
  readonly maxFieldsInStruct: number;
  readonly maxFunctionDefinitions: number;
  /** Work on one function, and on all functions of a module, in units of VerifierMeter. */
  readonly maxFunctionMeterUnits: number;
  readonly enableEnumTypes: boolean;
  readonly enableResourceAccessControl: boolean;
  readonly enableFunctionValues: boolean;
  /** Whether a script's own type parameters are counted; before, more than 16 were a failure of the verifier. */
  readonly countScriptTypeParameters: boolean;
  /** Whether argument and result types of function types are checked. */
  readonly checkFunctionTypes: boolean;
}

/** Limits of the networks since May 2026, all features enabled. */
export const DEFAULT_VERIFIER_CONFIG: VerifierConfig = {
  maxLoopDepth: 5,
  maxFunctionParameters: 128,
  maxFunctionReturnValues: 128,
  maxGenericInstantiationLength: 32,
  maxBasicBlocks: 1_024,
  maxBasicBlocksInScript: 1_024,
  maxValueStackSize: 1_024,
  maxPushSize: 10_000,
  maxTypeNodes: 128,
  maxTypeDepth: 20,
  maxStructDefinitions: 1_100,
  maxStructVariants: 127,
  maxFieldsInStruct: 64,
  maxFunctionDefinitions: 1_000,
  maxFunctionMeterUnits: 80_000_000,
  enableEnumTypes: true,
  enableResourceAccessControl: true,
  enableFunctionValues: true,
  countScriptTypeParameters: true,
  checkFunctionTypes: true,
};

export interface ChainRules {
  readonly isFeatureEnabled: (flag: number) => boolean;
  readonly gasFeatureVersion: number;
  /** The bounds on declarations, introduced in two steps, at different times per network. */
  readonly bounds: 'none' | 'first' | 'revised';
}

const SIGNATURE_CHECKER_V2_SCRIPT_FIX = 29;
const ENABLE_ENUM_TYPES = 74;
const ENABLE_RESOURCE_ACCESS_CONTROL = 75;
const ENABLE_FUNCTION_VALUES = 89;
/** First version of the gas schedule under which function types are checked. */
const CHECKS_FUNCTION_TYPES = 38;

const NO_BOUNDS: Partial<VerifierConfig> = {
  maxStructDefinitions: Number.POSITIVE_INFINITY,
  maxStructVariants: Number.POSITIVE_INFINITY,
  maxFieldsInStruct: Number.POSITIVE_INFINITY,
  maxFunctionDefinitions: Number.POSITIVE_INFINITY,
  maxBasicBlocksInScript: Number.POSITIVE_INFINITY,
};
const FIRST_BOUNDS: Partial<VerifierConfig> = { maxStructDefinitions: 200, maxStructVariants: 64 };
/** Without function values, types could be larger. */
const WITHOUT_FUNCTION_VALUES: Partial<VerifierConfig> = {
  enableFunctionValues: false,
  maxTypeNodes: 256,
  maxFunctionReturnValues: Number.POSITIVE_INFINITY,
  maxTypeDepth: Number.POSITIVE_INFINITY,
};
const BOUNDS = { none: NO_BOUNDS, first: FIRST_BOUNDS, revised: {} };

export function verifierConfigOf(rules: ChainRules): VerifierConfig {
  const { isFeatureEnabled, gasFeatureVersion, bounds } = rules;
  return {
    ...DEFAULT_VERIFIER_CONFIG,
    ...BOUNDS[bounds],
    ...(isFeatureEnabled(ENABLE_FUNCTION_VALUES) ? {} : WITHOUT_FUNCTION_VALUES),
    enableEnumTypes: isFeatureEnabled(ENABLE_ENUM_TYPES),
    enableResourceAccessControl: isFeatureEnabled(ENABLE_RESOURCE_ACCESS_CONTROL),
    countScriptTypeParameters: isFeatureEnabled(SIGNATURE_CHECKER_V2_SCRIPT_FIX),
    checkFunctionTypes: gasFeatureVersion >= CHECKS_FUNCTION_TYPES,
  };
}

export class VerifierMeter {
  readonly #max: number;
  #ofFunction = 0;
  #ofModule = 0;

  constructor(max: number) {
    this.#max = max;
  }

  enterFunction(): void {
    this.#ofFunction = 0;
  }

  /** @throws VmError CONSTRAINT_NOT_SATISFIED above the limit */
  add(units: number): void {
    this.#ofFunction = this.#sum(this.#ofFunction, units);
  }

  /** `count` items, each at a cost 1.5 times that of the one before, in single precision. @throws VmError */
  addGrowing(units: number, count: number): void {
    let cost = units;
    for (let left = count; left > 0; left -= 1) {
      this.add(cost);
      cost = Math.trunc(Math.fround(1.5 * Math.fround(cost)));
    }
  }

  /** Adds the function's work to the module's. @throws VmError */
  leaveFunction(): void {
    this.#ofModule = this.#sum(this.#ofModule, Math.fround(this.#ofFunction));
  }

  #sum(units: number, added: number): number {
    const sum = units + added;
    if (sum > this.#max) throw new VmError('CONSTRAINT_NOT_SATISFIED');
    return sum;
  }
}
