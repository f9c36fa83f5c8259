/**
 * Bodies of functions: locals, then one instruction after the other, each ended by `;`.
 *
 *     public fun symbol_of<CoinType>(owner: address): u64 acquires CoinStore {
 *       let amount: u64;
 *       CopyLoc owner; Exists CoinStore<CoinType>; BrFalse none;
 *       MoveLoc owner; ImmBorrowGlobal CoinStore<CoinType>;
 *       ImmBorrowField CoinStore<CoinType>.coin; Call value<CoinType>; Ret;
 *     none:
 *       LdU64 0; Ret;
 *     }
 *
 * Instructions have the names of docs/spec/move.md §1.9. Type arguments choose the generic form of one. Operands are
 * names: locals, labels, `Struct`, `Struct.field`, `Enum.Variant`, `Enum.Variant.field`, `Enum.One|Other.field`,
 * `function`, `0x1::module::function`; types of vectors and closures stand in `<…>`, a number of elements or a mask
 * after them. A constant is its type and its BCS in hex, or a text: `LdConst address 0x1`, `LdConst vector<u8> "abc"`.
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { OPCODES, type OperandKind } from '../../move/modules/opcodes.ts';
import { type Address, addressBytes } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../../move/types/move-type.ts';
import {
  DeclarationError,
  type DeclaredBody,
  type DeclaredInstruction,
  type DeclaredOperand,
} from './declare.ts';
import type { Token, TokenReader } from './tokens.ts';

/** What a body needs of the module around it. */
interface BodyScope {
  readonly module: ModuleId;
  type(): MoveType;
  moduleId(): ModuleId;
  address(): Address;
}

const GENERIC = 'Generic';
const CODES: ReadonlyMap<string, number> = new Map(
  OPCODES.flatMap((info, code) => (info === undefined ? [] : [[info.name, code] as const])),
);

export class BodyParser {
  readonly #tokens: TokenReader;
  readonly #scope: BodyScope;
  readonly #locals: Map<string, number>;
  readonly #types: MoveType[] = [];
  readonly #instructions: DeclaredInstruction[] = [];
  readonly #labels = new Map<string, number>();
  /** Instructions that wait for the place of a label. */
  readonly #jumps: { readonly at: number; readonly label: Token }[] = [];

  constructor(tokens: TokenReader, parameters: readonly string[], scope: BodyScope) {
    this.#tokens = tokens;
    this.#scope = scope;
    this.#locals = new Map(parameters.map((name, index) => [name, index]));
  }

  /** @throws DeclarationError */
  body(): DeclaredBody {
    const acquires: string[] = [];
    if (this.#tokens.accept('acquires')) {
      do acquires.push(this.#tokens.name());
      while (this.#tokens.accept(','));
    }
    this.#tokens.expect('{');
    while (!this.#tokens.accept('}')) {
      if (this.#tokens.accept('let')) this.#local();
      else if (this.#tokens.peek(1).text === ':') this.#label();
      else this.#instruction();
    }
    for (const { at, label } of this.#jumps) {
      const place = find(this.#labels, label, 'label');
      const { opcode } = this.#instructions[at]!;
      this.#instructions[at] = { opcode, operand: numberOperand(place) };
    }
    return { acquires, locals: this.#types, instructions: this.#instructions };
  }

  #local(): void {
    const token = this.#tokens.peek();
    addNew(this.#locals, this.#tokens.name(), this.#locals.size, token);
    this.#tokens.expect(':');
    this.#types.push(this.#scope.type());
    this.#tokens.expect(';');
  }

  #label(): void {
    const token = this.#tokens.peek();
    addNew(this.#labels, this.#tokens.name(), this.#instructions.length, token);
    this.#tokens.expect(':');
  }

  #instruction(): void {
    const token = this.#tokens.peek();
    const name = this.#tokens.name();
    const plain = find(CODES, token, 'instruction');
    const { operand: kind, second } = OPCODES[plain]!;
    const operand = this.#operand(kind);
    const opcode = isGeneric(operand)
      ? find(CODES, { ...token, text: name + GENERIC }, 'instruction')
      : plain;
    const last = second === 'none' ? undefined : this.#tokens.number();
    this.#tokens.expect(';');
    this.#instructions.push({ opcode, operand, second: last });
  }

  #operand(kind: OperandKind): DeclaredOperand {
    switch (kind) {
      case 'none':
        return { kind };
      case 'offset':
        this.#jumps.push({ at: this.#instructions.length, label: this.#tokens.peek() });
        this.#tokens.name();
        return numberOperand(0);
      case 'local': {
        const token = this.#tokens.peek();
        this.#tokens.name();
        return numberOperand(find(this.#locals, token, 'local'));
      }
      case 'signature':
        this.#tokens.expect('<');
        return { kind, types: this.#tokens.list('>', () => this.#scope.type()) };
      case 'constant':
        return this.#constant();
      case 'function':
        return this.#function();
      case 'struct':
      case 'fieldHandle':
      case 'structVariantHandle':
      case 'variantFieldHandle':
        return this.#member(kind);
      default:
        return this.#immediate();
    }
  }

  #immediate(): DeclaredOperand {
    const sign = this.#tokens.accept('-') ? -1n : 1n;
    return numberOperand(sign * this.#tokens.number());
  }

  #constant(): DeclaredOperand {
    const type = this.#scope.type();
    return { kind: 'constant', type, data: this.#constantData(type) };
  }

  #constantData(type: MoveType): Uint8Array {
    if (type.kind === 'address') return addressBytes(this.#scope.address());
    const { kind, text } = this.#tokens.peek();
    if (kind === 'text') return encodeBcs((to) => to.string(this.#tokens.text()));
    if (kind !== 'address') throw this.#tokens.unexpected('expected a text or hex');
    this.#tokens.take();
    return Buffer.from(text.slice(2), 'hex');
  }

  #function(): DeclaredOperand {
    const isOwn = this.#tokens.peek(1).text !== '::';
    const module = isOwn ? this.#scope.module : this.#scope.moduleId();
    if (!isOwn) this.#tokens.expect('::');
    const name = this.#tokens.name();
    const typeArguments = this.#tokens.accept('<')
      ? this.#tokens.list('>', () => this.#scope.type())
      : [];
    return { kind: 'function', module, name, typeArguments };
  }

  #member(kind: OperandKind): DeclaredOperand {
    const struct = this.#struct();
    const variants: string[] = [];
    if (kind === 'structVariantHandle' || kind === 'variantFieldHandle') {
      this.#tokens.expect('.');
      do variants.push(this.#tokens.name());
      while (this.#tokens.accept('|'));
    }
    let field: string | undefined;
    if (kind === 'fieldHandle' || kind === 'variantFieldHandle') {
      this.#tokens.expect('.');
      field = this.#tokens.name();
    }
    return { kind: 'member', struct, variants, field };
  }

  #struct(): MoveStructTag {
    const token = this.#tokens.peek();
    const type = this.#scope.type();
    if (type.kind === 'struct') return type.struct;
    throw new DeclarationError(
      'unexpected_token',
      `expected a struct, found ${token.text}`,
      token.line,
    );
  }
}

function numberOperand(value: number | bigint): DeclaredOperand {
  return { kind: 'number', value: BigInt(value) };
}

function isGeneric(operand: DeclaredOperand): boolean {
  if (operand.kind === 'member') return operand.struct.typeArguments.length > 0;
  return operand.kind === 'function' && operand.typeArguments.length > 0;
}

function find(names: ReadonlyMap<string, number>, { text, line }: Token, what: string): number {
  const found = names.get(text);
  if (found !== undefined) return found;
  throw new DeclarationError('unknown_name', `no ${what} ${text}`, line);
}

function addNew(names: Map<string, number>, name: string, value: number, { line }: Token): void {
  if (names.has(name))
    throw new DeclarationError('duplicate_name', `${name} is declared twice`, line);
  names.set(name, value);
}
