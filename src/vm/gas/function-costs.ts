/**
 * Costs of a function's instructions that do not depend on values, computed once for each function with its type
 * arguments (docs/spec/gas.md §2.2). A type that an instruction creates costs by the number of types in it.
 */
import type {
  CompiledModule,
  FieldDefinition,
  Instruction,
  SignatureToken,
  StructDefinition,
} from '../../move/modules/compiled.ts';
import { OPCODES } from '../../move/modules/opcodes.ts';
import { operationNumber } from '../code/operation.ts';
import type { Callee, LoadedFunction } from '../program/loaded-module.ts';
import type { CallCosts, InstructionPrices } from './instruction-prices.ts';
import { nativeNumbers } from './native-prices.ts';

/** Operations that charge for the sizes of their values themselves. */
const SIZED_WHEN_RUN: ReadonlySet<number> = new Set(
  (['copyLocalDeep', 'readRefDeep', 'equalDeep', 'notEqualDeep'] as const).map(operationNumber),
);

/** The costs of a function. @throws VmError VERIFICATION_ERROR for code that does not check */
export function callCosts(prices: InstructionPrices, callee: Callee): CallCosts {
  const known = callee.costs;
  if (known?.of === prices) return known;
  if (known?.before?.of === prices) return known.before;
  const costs = new CostCalculator(prices, callee).make();
  if (known !== undefined) {
    known.before = undefined;
    costs.before = known;
  }
  callee.costs = costs;
  return costs;
}

class CostCalculator {
  readonly #prices: InstructionPrices;
  readonly #target: LoadedFunction;
  readonly #module: CompiledModule;
  readonly #typeNodes: readonly number[];

  constructor(prices: InstructionPrices, { function: target, typeArguments }: Callee) {
    this.#prices = prices;
    this.#target = target;
    this.#module = target.module.compiled;
    this.#typeNodes = typeArguments.types.map(({ nodes }) => nodes);
  }

  make(): CallCosts {
    const { isNative, module, name, parameters, definition } = this.#target;
    const typeCount = this.#typeNodes.length;
    const unit = this.#module.functionDefinitions[definition]!.code;
    const locals = unit === undefined ? [] : this.#module.signatures[unit.locals]!;
    const all = isNative ? [] : [...parameters, ...locals];
    const prices = this.#prices;
    const named =
      typeCount === 0
        ? prices.call('call', parameters.length, 0, all.length)
        : prices.call('call_generic', parameters.length, typeCount, all.length);
    return {
      of: prices,
      named,
      dynamic: prices.call('call', parameters.length, 0, all.length),
      frame: this.#typesCost(all),
      native: isNative ? nativeNumbers(prices.prices, module.id.name, name) : [],
      amounts: Float64Array.from(unit?.code ?? [], (one, at) => this.#amount(one, at)),
      typeArguments: this.#module.functionInstantiations.map(({ signature }) => ({
        amount: this.#typesCost(this.#module.signatures[signature]!),
      })),
      layouts: [],
      before: undefined,
    };
  }

  #amount(instruction: Instruction, at: number): number {
    const base = this.#prices.byOpcode[instruction.opcode]!;
    const { name } = OPCODES[instruction.opcode]!;
    return base + this.#dependent(name, instruction, at);
  }

  #dependent(name: string, { operand, count, mask }: Instruction, at: number): number {
    const index = operand as number;
    const module = this.#module;
    const of = (part: string): number => this.#prices.prices.of(`instr.${part}`);
    switch (name) {
      case 'LdConst': {
        const { type, data } = module.constants[index]!;
        return this.#typesCost([type]) + of('ld_const.per_byte') * data.length;
      }
      case 'CopyLoc':
        return this.#sized(at) * of('copy_loc.per_abs_val_unit');
      case 'ReadRef':
        return this.#sized(at) * of('read_ref.per_abs_val_unit');
      case 'Eq':
        return 2 * this.#sized(at) * of('eq.per_abs_val_unit');
      case 'Neq':
        return 2 * this.#sized(at) * of('neq.per_abs_val_unit');
      case 'ImmBorrowFieldGeneric':
      case 'MutBorrowFieldGeneric':
        return this.#fieldAndStruct(index);
      case 'ImmBorrowVariantFieldGeneric':
      case 'MutBorrowVariantFieldGeneric':
        return this.#variantFieldAndStruct(index);
      case 'Pack':
      case 'Unpack':
        return fieldCount(module.structDefinitions[index]!) * of(`${lower(name)}.per_field`);
      case 'PackVariant':
      case 'UnpackVariant': {
        const { owner, variant } = module.structVariantHandles[index]!;
        const fields = fieldsOf(module.structDefinitions[owner]!, variant).length;
        return fields * of(`${lower(name.replace('Variant', ''))}.per_field`);
      }
      case 'PackGeneric':
      case 'UnpackGeneric':
        return this.#fields(module.structInstantiations[index]!, undefined, name);
      case 'PackVariantGeneric':
      case 'UnpackVariantGeneric': {
        const { handle, signature } = module.structVariantInstantiations[index]!;
        const { owner, variant } = module.structVariantHandles[handle]!;
        return this.#fields({ handle: owner, signature }, variant, name.replace('Variant', ''));
      }
      case 'TestVariantGeneric':
        return this.#structTypeCost(module.structVariantInstantiations[index]!.signature);
      case 'ExistsGeneric':
      case 'MoveFromGeneric':
      case 'MoveToGeneric':
      case 'ImmBorrowGlobalGeneric':
      case 'MutBorrowGlobalGeneric':
        return this.#structTypeCost(module.structInstantiations[index]!.signature);
      case 'PackClosure':
        return capturedCount(mask) * of('pack.closure.per_arg');
      case 'PackClosureGeneric': {
        const { signature } = module.functionInstantiations[index]!;
        const types = this.#typesCost(module.signatures[signature]!);
        return types + capturedCount(mask) * of('pack_closure_generic.per_arg');
      }
      case 'VecPack':
        return this.#element(index) + Number(count) * of('vec_pack.per_elem');
      case 'VecUnpack':
        return this.#element(index) + Number(count) * of('vec_unpack.per_expected_elem');
      default:
        return name.startsWith('Vec') ? this.#element(index) : 0;
    }
  }

  /** The size of all values of an instruction's type; 0 if values differ and the size is charged when it runs. */
  #sized(at: number): number {
    const { code } = this.#target;
    if (SIZED_WHEN_RUN.has(code.operations[at]!)) return 0;
    const type = code.sized[code.sizedAt[at]!]!;
    if (type.kind === 'reference') return this.#prices.sizes.reference;
    return this.#prices.sizes.ofKind(type.kind);
  }

  #element(signature: number): number {
    return this.#typesCost(this.#module.signatures[signature]!);
  }

  #structTypeCost(signature: number): number {
    return (1 + this.#nodes(this.#module.signatures[signature]!)) * this.#prices.perTypeNode;
  }

  #fieldAndStruct(index: number): number {
    const { handle, signature } = this.#module.fieldInstantiations[index]!;
    const { owner, field } = this.#module.fieldHandles[handle]!;
    const [declared] = fieldsOf(this.#module.structDefinitions[owner]!, undefined).slice(field);
    return this.#structTypeCost(signature) + this.#fieldTypesCost([declared!], signature);
  }

  #variantFieldAndStruct(index: number): number {
    const { handle, signature } = this.#module.variantFieldInstantiations[index]!;
    const { owner, field, variants } = this.#module.variantFieldHandles[handle]!;
    const [first] = variants;
    const [declared] = fieldsOf(this.#module.structDefinitions[owner]!, first).slice(field);
    return this.#structTypeCost(signature) + this.#fieldTypesCost([declared!], signature);
  }

  #fields(
    { handle, signature }: { readonly handle: number; readonly signature: number },
    variant: number | undefined,
    name: string,
  ): number {
    const fields = fieldsOf(this.#module.structDefinitions[handle]!, variant);
    const perField = this.#prices.prices.of(`instr.${lower(name)}.per_field`);
    const typeCost = this.#fieldTypesCost(fields, signature) + this.#structTypeCost(signature);
    return typeCost + fields.length * perField;
  }

  /** The field types with the type arguments of an instantiation, which may name those of the function. */
  #fieldTypesCost(fields: readonly FieldDefinition[], signature: number): number {
    const argumentNodes = this.#module.signatures[signature]!.map((token) => this.#nodesOf(token));
    const nodes = fields.reduce((sum, { type }) => sum + nodesOf(type, argumentNodes), 0);
    return nodes * this.#prices.perTypeNode;
  }

  #typesCost(tokens: readonly SignatureToken[]): number {
    return this.#nodes(tokens) * this.#prices.perTypeNode;
  }

  #nodes(tokens: readonly SignatureToken[]): number {
    return tokens.reduce((sum, token) => sum + this.#nodesOf(token), 0);
  }

  #nodesOf(token: SignatureToken): number {
    return nodesOf(token, this.#typeNodes);
  }
}

/** Number of types in a type, itself included. @param argumentNodes that number for each type argument */
function nodesOf(token: SignatureToken, argumentNodes: readonly number[]): number {
  const all = (tokens: readonly SignatureToken[]): number =>
    tokens.reduce((sum, part) => sum + nodesOf(part, argumentNodes), 0);
  switch (token.kind) {
    case 'typeParameter':
      return argumentNodes[token.index] ?? 1;
    case 'reference':
      return 1 + nodesOf(token.to, argumentNodes);
    case 'vector':
      return 1 + nodesOf(token.element, argumentNodes);
    case 'struct':
      return 1 + all(token.typeArguments);
    case 'function':
      return 1 + all(token.args) + all(token.results);
    default:
      return 1;
  }
}

function fieldsOf(
  definition: StructDefinition,
  variant: number | undefined,
): readonly FieldDefinition[] {
  if (definition.kind === 'struct') return definition.fields;
  return definition.kind === 'enum' ? definition.variants[variant ?? 0]!.fields : [];
}

function fieldCount(definition: StructDefinition): number {
  return fieldsOf(definition, undefined).length;
}

function capturedCount(mask: bigint | undefined): number {
  let count = 0;
  for (let left = mask ?? 0n; left > 0n; left >>= 1n) count += Number(left & 1n);
  return count;
}

function lower(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
}
