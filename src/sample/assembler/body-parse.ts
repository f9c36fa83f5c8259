/**
 * Function bodies: locals, then instructions, each ended by `;`.
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
 * Instructions have the names of docs/spec/move.md §1.9. Type arguments select the generic form of an instruction.
 * Operands are names: locals, labels, `Struct`, `Struct.field`, `Enum.Variant`, `Enum.Variant.field`,
 * `Enum.One|Other.field`, `function`, `0x1::module::function`. Types of vectors and closures are in `<…>`, followed by
 * a number of elements or a mask. A constant is a type followed by BCS in hex or by a text: `LdConst address 0x1`,
 * `LdConst vector<u8> "abc"`.
 */
import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { type IntegerKind, writeInteger } from '../../move/bcs/integers.ts';
import { OPCODES, type OperandKind } from '../../move/modules/opcodes.ts';
import { type Address, addressBytes } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../../move/types/move-type.ts';
import {
  type CodeIndices,
  type DeclaredBody,
  type DeclaredInstruction,
  declarationError,
} from './declare.ts';
import type { Token, TokenReader } from './tokens.ts';

interface BodyScope {
  readonly module: ModuleId;
  type(): MoveType;
  moduleId(): ModuleId;
  address(): Address;
}

interface Operand {
  /** Whether type arguments select the generic form of the instruction. */
  readonly isGeneric?: boolean;
  write(writer: BcsWriter, indices: CodeIndices): unknown;
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

  constructor(tokens: TokenReader, parameters: readonly string[], scope: BodyScope) {
    this.#tokens = tokens;
    this.#scope = scope;
    this.#locals = new Map(parameters.map((name, index) => [name, index]));
  }

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
    return { acquires, locals: this.#types, instructions: this.#instructions };
  }

  #local(): void {
    this.#locals.set(this.#tokens.name(), this.#locals.size);
    this.#tokens.expect(':');
    this.#types.push(this.#scope.type());
    this.#tokens.expect(';');
  }

  #label(): void {
    this.#labels.set(this.#tokens.name(), this.#instructions.length);
    this.#tokens.expect(':');
  }

  #instruction(): void {
    const token = this.#tokens.peek();
    const plain = find(CODES, token, 'instruction');
    this.#tokens.take();
    const { operand: kind, second } = OPCODES[plain]!;
    const { write, isGeneric = false } = this.#operand(kind);
    const opcode = isGeneric
      ? find(CODES, { ...token, text: token.text + GENERIC }, 'instruction')
      : plain;
    const last = second === 'none' ? undefined : this.#tokens.number();
    this.#tokens.expect(';');
    this.#instructions.push({
      opcode,
      writeOperands(writer, indices) {
        write(writer, indices);
        if (second === 'count') writer.u64(last!);
        // A mask has one bit per parameter, so it is small.
        if (second === 'mask') writer.uleb32(Number(last!));
      },
    });
  }

  #operand(kind: OperandKind): Operand {
    switch (kind) {
      case 'none':
        return { write: () => undefined };
      case 'offset':
        return this.#named(this.#labels, 'label');
      case 'local':
        return this.#named(this.#locals, 'local');
      case 'signature': {
        this.#tokens.expect('<');
        const types = this.#tokens.list('>', () => this.#scope.type());
        return indexed((indices) => indices.signature(types));
      }
      case 'constant': {
        const type = this.#scope.type();
        const data = this.#constantData(type);
        return indexed((indices) => indices.constant(type, data));
      }
      case 'function':
        return this.#function();
      case 'struct':
      case 'fieldHandle':
      case 'structVariantHandle':
      case 'variantFieldHandle':
        return this.#member(kind);
      default: {
        const sign = this.#tokens.accept('-') ? -1n : 1n;
        const value = sign * this.#tokens.number();
        return { write: (to) => writeInteger(to, kind as IntegerKind, value) };
      }
    }
  }

  /** The position of a local or of a label. A label may be defined later. */
  #named(places: ReadonlyMap<string, number>, what: string): Operand {
    const token = this.#tokens.peek();
    this.#tokens.name();
    return indexed(() => find(places, token, what));
  }

  #constantData(type: MoveType): Uint8Array {
    if (type.kind === 'address') return addressBytes(this.#scope.address());
    const { kind, text } = this.#tokens.peek();
    if (kind === 'text') return encodeBcs((to) => to.string(this.#tokens.text()));
    if (kind !== 'address') throw this.#tokens.unexpected('expected a text or hex');
    this.#tokens.take();
    return Buffer.from(text.slice(2), 'hex');
  }

  #function(): Operand {
    const isOwn = this.#tokens.peek(1).text !== '::';
    const module = isOwn ? this.#scope.module : this.#scope.moduleId();
    if (!isOwn) this.#tokens.expect('::');
    const name = this.#tokens.name();
    const typeArguments = this.#tokens.accept('<')
      ? this.#tokens.list('>', () => this.#scope.type())
      : [];
    return indexed((indices) => indices.function(module, name, typeArguments), typeArguments);
  }

  #member(kind: OperandKind): Operand {
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
    return indexed((indices) => indices.member(struct, variants, field), struct.typeArguments);
  }

  #struct(): MoveStructTag {
    const token = this.#tokens.peek();
    const type = this.#scope.type();
    if (type.kind === 'struct') return type.struct;
    throw declarationError(`expected a struct, found ${token.text}`, token.line);
  }
}

function indexed(
  indexIn: (indices: CodeIndices) => number,
  typeArguments: readonly MoveType[] = [],
): Operand {
  const isGeneric = typeArguments.length > 0;
  return { isGeneric, write: (writer, indices) => writer.uleb32(indexIn(indices)) };
}

function find(names: ReadonlyMap<string, number>, { text, line }: Token, what: string): number {
  const found = names.get(text);
  if (found !== undefined) return found;
  throw declarationError(`no ${what} ${text}`, line);
}
