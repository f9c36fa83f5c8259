/** Readable instructions, with names in place of indices. */
import { BcsReader } from '../bcs/bcs-reader.ts';
import { formatHex } from '../bcs/hex.ts';
import { formatAddress } from '../types/address.ts';
import { formatSignatureToken, formatStructPath } from '../types/move-type.ts';
import {
  type CompiledModule,
  functionNameOfHandle,
  type Instruction,
  type SignatureToken,
  structPathOfHandle,
} from './compiled.ts';
import { OPCODES } from './opcodes.ts';

/** Names for the indices of a module, for people who read its code. */
export class ModuleNames {
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

  /** The function that an instruction calls or turns into a function value. */
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

/** The value as text if that is short; its bytes otherwise. */
export function constantText(type: SignatureToken, data: Uint8Array): string {
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
