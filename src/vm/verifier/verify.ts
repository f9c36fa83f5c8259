/**
 * The bytecode verifier, which ensures that code is safe to run (docs/spec/verifier.md). It refuses what the reference
 * refuses, with the status of the first fault that the reference finds, so the order of passes matters.
 */
import type {
  CodeUnit,
  CompiledModule,
  CompiledScript,
  FunctionDefinition,
} from '../../move/modules/compiled.ts';
import type { AbilitySet } from '../../move/types/type-tag.ts';
import { VmError } from '../status/status.ts';
import { checkInstantiationLoops, checkStructRecursion } from './circles.ts';
import type { FunctionView } from './code/analysis.ts';
import { checkControlFlow } from './code/control-flow.ts';
import { type AcquiresOf, checkReferences } from './code/references.ts';
import { checkAcquires, checkLocals, checkStackUsage } from './code/stack-and-locals.ts';
import { checkTypes } from './code/type-rules.ts';
import {
  checkConstants,
  checkDuplicates,
  checkFeatures,
  checkFriends,
  checkLimits,
} from './declarations.ts';
import { TypeTable } from './model/type-table.ts';
import {
  DEFAULT_VERIFIER_CONFIG,
  type VerifierConfig,
  VerifierMeter,
} from './model/verifier-config.ts';
import { checkInstructions, checkSignatures } from './signatures.ts';
import { checkStructInterface } from './struct-interface.ts';

/**
 * Verifies a module whose indices are known to be in bounds. It runs in steps, because hostile code can take a second
 * and others need their turn in between.
 * @throws VmError with the status of the first fault
 */
export function* moduleChecks(
  module: CompiledModule,
  config: VerifierConfig = DEFAULT_VERIFIER_CONFIG,
): Generator<void> {
  const types = checkTables(module, config);
  for (const { code } of module.functionDefinitions) checkInstructions(module, code?.code ?? []);
  checkConstants(module);
  checkFriends(module);
  checkStructRecursion(module);
  checkInstantiationLoops(module);
  checkStructInterface(module, types);
  const definitionOf = new Map(module.functionDefinitions.map((one) => [one.handle, one]));
  const verifier = new CodeVerifier(module, types, definitionOf, config);
  for (const definition of module.functionDefinitions) yield* verifier.checkFunction(definition);
}

/** Verifies a script that was read, in steps. @throws VmError with the status of the first fault */
export function* scriptChecks(
  script: CompiledScript,
  config: VerifierConfig = DEFAULT_VERIFIER_CONFIG,
): Generator<void> {
  const types = checkTables(script, config);
  checkInstructions(script, script.code.code);
  checkConstants(script);
  yield* new CodeVerifier(script, types, new Map(), config).checkScript(script);
}

function checkTables(binary: CompiledModule | CompiledScript, config: VerifierConfig): TypeTable {
  const types = new TypeTable(binary);
  checkFeatures(binary, config);
  checkLimits(binary, config);
  checkDuplicates(binary, types);
  checkSignatures(binary, config);
  return types;
}

class CodeVerifier {
  readonly #binary: CompiledModule | CompiledScript;
  readonly #types: TypeTable;
  readonly #definitionOf: ReadonlyMap<number, FunctionDefinition>;
  readonly #acquiresOf: AcquiresOf;
  readonly #config: VerifierConfig;
  readonly #meter: VerifierMeter;

  constructor(
    binary: CompiledModule | CompiledScript,
    types: TypeTable,
    definitionOf: ReadonlyMap<number, FunctionDefinition>,
    config: VerifierConfig,
  ) {
    this.#binary = binary;
    this.#types = types;
    this.#definitionOf = definitionOf;
    this.#acquiresOf = (handle) => definitionOf.get(handle)?.acquires ?? [];
    this.#config = config;
    this.#meter = new VerifierMeter(config.maxFunctionMeterUnits);
  }

  *checkFunction(definition: FunctionDefinition): Generator<void> {
    const { code } = definition;
    if (code === undefined) return;
    const handle = this.#binary.functionHandles[definition.handle]!;
    const { maxBasicBlocks } = this.#config;
    yield* this.#checkCode(code, handle, maxBasicBlocks);
    checkAcquires(this.#binary as CompiledModule, definition, this.#definitionOf);
    this.#meter.leaveFunction();
  }

  *checkScript({ code, parameters, typeParameters }: CompiledScript): Generator<void> {
    const { maxBasicBlocksInScript } = this.#config;
    yield* this.#checkCode(code, { parameters, typeParameters }, maxBasicBlocksInScript);
  }

  *#checkCode(
    { code, locals }: CodeUnit,
    handle: {
      readonly parameters: number;
      readonly return?: number;
      readonly typeParameters: readonly AbilitySet[];
    },
    maxBlocks: number,
  ): Generator<void> {
    const { signatures, version } = this.#binary;
    const graph = checkControlFlow(code, version, this.#config);
    if (graph.blocks.length > maxBlocks) throw new VmError('TOO_MANY_BASIC_BLOCKS');
    const parameters = signatures[handle.parameters]!;
    const view: FunctionView = {
      binary: this.#binary,
      types: this.#types,
      code,
      parameters,
      locals: [...parameters, ...signatures[locals]!],
      results: handle.return === undefined ? [] : signatures[handle.return]!,
      typeParameters: handle.typeParameters,
      graph,
    };
    this.#meter.enterFunction();
    checkStackUsage(view, this.#config);
    checkTypes(view, this.#meter);
    yield;
    yield* checkLocals(view, this.#meter);
    yield* checkReferences(view, this.#acquiresOf, this.#meter);
  }
}
