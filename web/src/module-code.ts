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

interface ModuleCode {
  readonly bytecodeVersion: number;
  readonly functions: readonly FunctionCode[];
  readonly constants: readonly { readonly type: string; readonly value: string }[];
}

/** Reads the code. @throws MoveError when the bytes do not load */
export function readModuleCode(hex: string): ModuleCode {
  const module = readModule(readHexText(hex));
  const names = new Names(module);
  const own = module.functionDefinitions.map(({ handle, code }) => ({
    name: functionNameOfHandle(module, handle),
    instructions: code?.code.map((one, at) => `${at}: ${names.instruction(one)}`),
    calls: [...new Set((code?.code ?? []).flatMap((one) => names.called(one) ?? []))],
  }));
  const functions = own.map((one) => ({
    ...one,
    calledBy: own.filter(({ calls }) => calls.includes(one.name)).map(({ name }) => name),
  }));
  const constants = module.constants.map(({ type, data }) => ({
    type: names.token(type),
    value: constantText(type, data),
  }));
  return { bytecodeVersion: module.version, functions, constants };
}

/** What the indices of a module mean. */
class Names {
  readonly #module: CompiledModule;

  constructor(module: CompiledModule) {
    this.#module = module;
  }

  token(token: SignatureToken): string {
    return formatSignatureToken(token, (handle) => {
      const { module, name } = structPathOfHandle(this.#module, handle);
      return formatStructPath(module, name);
    });
  }

  tokens(signature: number): string {
    return this.#module.signatures[signature]!.map((token) => this.token(token)).join(', ');
  }

  function(handle: number): string {
    const { functionHandles, selfHandle, moduleHandles, addresses, identifiers } = this.#module;
    const name = functionNameOfHandle(this.#module, handle);
    const { module } = functionHandles[handle]!;
    if (module === selfHandle) return name;
    const declared = moduleHandles[module]!;
    const address = formatAddress(addresses[declared.address]!);
    return `${address}::${identifiers[declared.name]}::${name}`;
  }

  struct(definition: number): string {
    const { handle } = this.#module.structDefinitions[definition]!;
    return structPathOfHandle(this.#module, handle).name;
  }

  field(handle: number): string {
    const { owner, field } = this.#module.fieldHandles[handle]!;
    const declared = this.#module.structDefinitions[owner]!;
    const isStruct = declared.kind === 'struct';
    const name = isStruct ? this.#module.identifiers[declared.fields[field]!.name] : field;
    return `${this.struct(owner)}.${name}`;
  }

  /** The function that an instruction calls or makes a value of. */
  called({ opcode, operand }: Instruction): string | undefined {
    const kind = OPCODES[opcode]?.operand;
    if (kind === 'function') return this.function(Number(operand));
    if (kind !== 'functionInstantiation') return undefined;
    return this.function(this.#module.functionInstantiations[Number(operand)]!.handle);
  }

  instruction(instruction: Instruction): string {
    const { opcode, operand, count, mask } = instruction;
    const words = [OPCODES[opcode]?.name ?? `opcode ${opcode}`];
    if (operand !== undefined) words.push(this.#operand(instruction));
    return [...words, ...[count, mask].filter((one) => one !== undefined)].join(' ');
  }

  #operand(instruction: Instruction): string {
    const module = this.#module;
    const at = Number(instruction.operand);
    switch (OPCODES[instruction.opcode]?.operand) {
      case 'function':
        return this.function(at);
      case 'functionInstantiation':
        return `${this.called(instruction)}<${this.tokens(module.functionInstantiations[at]!.signature)}>`;
      case 'struct':
        return this.struct(at);
      case 'structInstantiation':
        return this.struct(module.structInstantiations[at]!.handle);
      case 'fieldHandle':
        return this.field(at);
      case 'fieldInstantiation':
        return this.field(module.fieldInstantiations[at]!.handle);
      case 'constant': {
        const { type, data } = module.constants[at]!;
        return `${at}: ${constantText(type, data)}`;
      }
      case 'signature':
        return this.tokens(at);
      default:
        return String(instruction.operand);
    }
  }
}

const PRINTABLE = /^[\x20-\x7e]{1,4096}$/;

/** The value in words where it is short to say; its bytes otherwise. */
function constantText(type: SignatureToken, data: Uint8Array): string {
  const reader = new BcsReader(data);
  switch (type.kind) {
    case 'bool':
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
      const text = String.fromCharCode(...bytes.subarray(0, 5000));
      return PRINTABLE.test(text) ? JSON.stringify(text) : formatHex(bytes);
    }
    default:
      return formatHex(data);
  }
}
