/** What only a module's bytes tell: its instructions, constants, and which functions call which. */
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import {
  type CompiledModule,
  functionNameOfHandle,
  type Instruction,
  type SignatureToken,
  structPathOfHandle,
} from '../../src/move/modules/compiled.ts';
import { OPCODES } from '../../src/move/modules/opcodes.ts';
import { readModule } from '../../src/move/modules/read.ts';
import { formatAddress } from '../../src/move/types/address.ts';
import { formatSignatureToken, formatStructPath } from '../../src/move/types/move-type.ts';
import { readHexText } from './signing-message.ts';

export interface FunctionCode {
  readonly name: string;
  /** `0: MoveLoc 1`; undefined for native functions. */
  readonly instructions: readonly string[] | undefined;
  /** Functions that it calls: of this module by name, of others in full. */
  readonly calls: readonly string[];
  readonly calledBy: readonly string[];
}

export interface ModuleCode {
  readonly bytecodeVersion: number;
  readonly functions: readonly FunctionCode[];
  readonly constants: readonly { readonly type: string; readonly value: string }[];
}

/** Reads the code. @throws MoveError when the bytes do not load */
export function readModuleCode(hex: string): ModuleCode {
  const module = readModule(readHexText(hex));
  const own = module.functionDefinitions.map((definition) => ({
    name: functionNameOfHandle(module, definition.handle),
    instructions: definition.code?.code.map(
      (instruction, at) => `${at}: ${instructionText(module, instruction)}`,
    ),
    calls: [...new Set((definition.code?.code ?? []).flatMap((one) => calledBy(module, one)))],
  }));
  const functions = own.map((one) => ({
    ...one,
    calledBy: own.filter(({ calls }) => calls.includes(one.name)).map(({ name }) => name),
  }));
  const constants = module.constants.map(({ type, data }) => ({
    type: tokenText(module, type),
    value: constantText(type, data),
  }));
  return { bytecodeVersion: module.version, functions, constants };
}

function tokenText(module: CompiledModule, token: SignatureToken): string {
  return formatSignatureToken(token, (handle) => structName(module, handle));
}

function structName(module: CompiledModule, handle: number): string {
  const { module: id, name } = structPathOfHandle(module, handle);
  return formatStructPath(id, name);
}

function functionName(module: CompiledModule, handle: number): string {
  const name = functionNameOfHandle(module, handle);
  const { module: at } = module.functionHandles[handle]!;
  if (at === module.selfHandle) return name;
  const declared = module.moduleHandles[at]!;
  const address = formatAddress(module.addresses[declared.address]!);
  return `${address}::${module.identifiers[declared.name]}::${name}`;
}

function calledBy(module: CompiledModule, { opcode, operand }: Instruction): string[] {
  const kind = OPCODES[opcode]?.operand;
  if (kind === 'function') return [functionName(module, Number(operand))];
  if (kind !== 'functionInstantiation') return [];
  return [functionName(module, module.functionInstantiations[Number(operand)]!.handle)];
}

function instructionText(module: CompiledModule, instruction: Instruction): string {
  const { opcode, operand, count, mask } = instruction;
  const info = OPCODES[opcode];
  const name = info?.name ?? `opcode ${opcode}`;
  const rest = [count, mask].filter((one) => one !== undefined).map(String);
  if (operand === undefined) return [name, ...rest].join(' ');
  return [name, operandText(module, instruction), ...rest].join(' ');
}

function operandText(module: CompiledModule, { opcode, operand }: Instruction): string {
  const at = Number(operand);
  const struct = (definition: number): string =>
    structName(module, module.structDefinitions[definition]!.handle);
  const field = (handle: number): string => {
    const { owner, field } = module.fieldHandles[handle]!;
    const definition = module.structDefinitions[owner]!;
    const name =
      definition.kind === 'struct' ? module.identifiers[definition.fields[field]!.name] : field;
    return `${struct(owner)}.${name}`;
  };
  switch (OPCODES[opcode]?.operand) {
    case 'function':
      return functionName(module, at);
    case 'functionInstantiation': {
      const { handle, signature } = module.functionInstantiations[at]!;
      const types = module.signatures[signature]!.map((token) => tokenText(module, token));
      return `${functionName(module, handle)}<${types.join(', ')}>`;
    }
    case 'struct':
      return struct(at);
    case 'structInstantiation':
      return struct(module.structInstantiations[at]!.handle);
    case 'fieldHandle':
      return field(at);
    case 'fieldInstantiation':
      return field(module.fieldInstantiations[at]!.handle);
    case 'constant': {
      const { type, data } = module.constants[at]!;
      return `${at}: ${constantText(type, data)}`;
    }
    case 'signature':
      return module.signatures[at]!.map((token) => tokenText(module, token)).join(', ');
    default:
      return String(operand);
  }
}

const PRINTABLE = /^[\x20-\x7e]+$/;

/** The value in words where it is short to say; its bytes otherwise. */
function constantText(type: SignatureToken, data: Uint8Array): string {
  const reader = new BcsReader(data);
  switch (type.kind) {
    case 'bool':
      return String(reader.bool());
    case 'u8':
    case 'u16':
    case 'u32':
    case 'u64':
    case 'u128':
    case 'u256':
      return String(reader[type.kind]());
    case 'address':
      return formatAddress(reader.address());
    case 'vector': {
      if (type.element.kind !== 'u8') return formatHex(data);
      const bytes = reader.bytes();
      const text = String.fromCharCode(...bytes.subarray(0, 4096));
      return PRINTABLE.test(text) && bytes.length <= 4096 ? JSON.stringify(text) : formatHex(bytes);
    }
    default:
      return formatHex(data);
  }
}
