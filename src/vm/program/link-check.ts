/** What a module says about a function of another one must be true of that one: checked when they are linked. */
import {
  type BinaryTables,
  type FunctionHandle,
  type SignatureToken,
  structPathOfHandle,
} from '../../move/modules/compiled.ts';
import { VmError } from '../vm-error.ts';
import type { LoadedFunction, LoadedModule } from './loaded-module.ts';

/** @throws VmError LINKER_ERROR */
export function checkLink(
  from: LoadedModule,
  declared: FunctionHandle,
  target: LoadedFunction,
): void {
  const { module, handle } = target;
  if (from.compiled === module.compiled) {
    if (declared === handle) return;
  } else if (!isVisible(from, target)) {
    throw new VmError('LINKER_ERROR', { text: `${target.name} is not visible` });
  }
  const isSame =
    declared.typeParameters.length === handle.typeParameters.length &&
    text(from.compiled, declared.parameters) === text(module.compiled, handle.parameters) &&
    text(from.compiled, declared.return) === text(module.compiled, handle.return);
  if (!isSame) throw new VmError('LINKER_ERROR', { text: `${target.name} has another signature` });
}

/** Whether a function can be called instead of a native one whose last parameter only says which function that is. */
export function sameSignature(native: LoadedFunction, target: LoadedFunction): boolean {
  const texts = ({ module, parameters }: LoadedFunction) =>
    parameters.map((token) => {
      const printer = new SignaturePrinter(module.compiled);
      printer.list([token]);
      return printer.text;
    });
  const wanted = texts(native).slice(0, -1);
  const given = texts(target);
  return (
    target.visibility === 'public' &&
    native.handle.typeParameters.length === target.handle.typeParameters.length &&
    wanted.length === given.length &&
    wanted.every((one, index) => one === given[index]) &&
    text(native.module.compiled, native.handle.return) ===
      text(target.module.compiled, target.handle.return)
  );
}

function isVisible(from: LoadedModule, { visibility, module }: LoadedFunction): boolean {
  if (visibility !== 'friend') return visibility === 'public';
  const { friends, addresses, identifiers } = module.compiled;
  return friends.some(
    ({ address, name }) =>
      identifiers[name] === from.id.name && addresses[address] === from.id.address,
  );
}

/** Longest text of a signature that is compared, in UTF-16 units: more than any function of today needs. */
const MAX_TEXT_LENGTH = 65_536;

const texts = new WeakMap<readonly SignatureToken[], string>();

function text(tables: BinaryTables, signature: number): string {
  const tokens = tables.signatures[signature]!;
  let known = texts.get(tokens);
  if (known === undefined) {
    const printer = new SignaturePrinter(tables);
    printer.list(tokens);
    known = printer.text;
    texts.set(tokens, known);
  }
  return known;
}

class SignaturePrinter {
  readonly #tables: BinaryTables;
  text = '';

  constructor(tables: BinaryTables) {
    this.#tables = tables;
  }

  list(tokens: readonly SignatureToken[]): void {
    for (const token of tokens) {
      this.#token(token);
      this.#add(',');
    }
  }

  #add(text: string): void {
    this.text += text;
    if (this.text.length > MAX_TEXT_LENGTH) {
      throw new VmError('LINKER_ERROR', { text: 'too large a signature' });
    }
  }

  #token(token: SignatureToken): void {
    switch (token.kind) {
      case 'reference':
        this.#add(token.mutable ? '&mut ' : '&');
        this.#token(token.to);
        return;
      case 'vector':
        this.#add('[');
        this.#token(token.element);
        return;
      case 'typeParameter':
        this.#add(`T${token.index}`);
        return;
      case 'struct': {
        const { module, name } = structPathOfHandle(this.#tables, token.handle);
        this.#add(`${module.address}::${module.name}::${name}<`);
        this.list(token.typeArguments);
        this.#add('>');
        return;
      }
      case 'function':
        this.#add('|');
        this.list(token.args);
        this.#add('|');
        this.list(token.results);
        this.#add(`|${token.abilities}`);
        return;
      default:
        this.#add(token.kind);
    }
  }
}
