/** The parts of a recorded run as JSON (docs/traces.md). */
import type { SignatureToken } from '../../move/modules/compiled.ts';
import { ModuleNames } from '../../move/modules/disassembly.ts';
import { formatAddress } from '../../move/types/address.ts';
import { formatTypeTag } from '../../move/types/type-tag.ts';
import type { Callee, LoadedFunction } from '../../vm/program/loaded-module.ts';
import type { VmType } from '../../vm/program/vm-type.ts';
import { VmError } from '../../vm/status/status.ts';
import type { YieldBudget } from '../../yield-budget.ts';
import { abortInfo } from '../run-view.ts';
import { isScript } from '../script-module.ts';
import {
  type Access,
  type Caller,
  RecordedCall,
  type RecordedFailure,
  type RecordedPart,
  type RecordedValue,
  type Step,
} from './call-tree.ts';
import { addressJson, member, type TraceValues } from './trace-values.ts';

/** Instructions that are shown before and after the one that failed. */
const CODE_BEFORE = 10;
const CODE_AFTER = 5;
const PIECE_CHARACTERS = 64 * 1024;
/** Cost of visiting a step, in the unit of a YieldBudget. */
export const STEP_WORK = 64;

/** Collects text that is sent in chunks. */
export class Pieces {
  readonly buffers: Buffer[] = [];
  readonly #pace: YieldBudget;
  #texts: string[] = [];
  #characters = 0;

  constructor(pace: YieldBudget) {
    this.#pace = pace;
  }

  /** Resolves when others have had their turn, if much was added. */
  add(text: string): Promise<void> | undefined {
    this.#texts.push(text);
    this.#characters += text.length;
    if (this.#characters > PIECE_CHARACTERS) this.#flush();
    return this.#pace.mustYield(text.length) ? this.#pace.nextTurn() : undefined;
  }

  end(): readonly Buffer[] {
    this.#flush();
    return this.buffers;
  }

  #flush(): void {
    const piece = Buffer.from(this.#texts.join(''));
    this.#pace.hold(piece.length);
    this.buffers.push(piece);
    this.#texts = [];
    this.#characters = 0;
  }
}

/** The parts shown for every call of a function with its type arguments. */
interface Signature {
  readonly head: string;
  readonly parameters: readonly (SignatureType | undefined)[];
  readonly results: readonly (SignatureType | undefined)[];
}

interface SignatureType {
  readonly type: VmType;
  /** JSON, with `&` or `&mut ` before it. */
  readonly text: string;
}

export class CallsJson {
  readonly #values: TraceValues;
  readonly #pace: YieldBudget;
  readonly #signatures = new Map<Callee, Signature>();

  constructor(values: TraceValues, pace: YieldBudget) {
    this.#values = values;
    this.#pace = pace;
  }

  async write(parts: readonly RecordedPart[], to: Pieces): Promise<void> {
    let before = '[';
    for (const part of parts) {
      await this.#prepare(part);
      const failure = part.failure && (await failureJson(part.failure));
      const failed = failure === undefined ? '' : `"failure":${failure},`;
      await to.add(`${before}{"name":"${part.name}","gas":${gasJson(part)},${failed}"steps":[`);
      await this.#steps(part, to);
      await to.add('}');
      before = ',';
    }
    await to.add(parts.length === 0 ? '[]' : ']');
  }

  /** Looks up all types. */
  async #prepare(caller: Caller): Promise<void> {
    const open: Caller[] = [caller];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next instanceof RecordedCall) await this.#addSignature(next);
      for (const step of next.steps) {
        if (this.#pace.mustYield(STEP_WORK)) await this.#pace.nextTurn();
        if (step.kind === 'call') open.push(step);
        else if (step.kind === 'event') {
          await this.#values.addTag(step.event.typeTag, step.program);
        } else {
          await this.#values.add(step.type, step.program);
          if ('keyType' in step.place) await this.#values.add(step.place.keyType, step.program);
        }
      }
      if (next.merged !== undefined) open.push(...next.merged.values());
    }
  }

  async #addSignature(call: RecordedCall): Promise<void> {
    const { callee, program } = call;
    if (this.#signatures.has(callee)) return;
    const { function: target, typeArguments } = callee;
    const typesOf = async (tokens: readonly SignatureToken[]) => {
      const types: (SignatureType | undefined)[] = [];
      for (const token of tokens) {
        const found = resolveType(token, call);
        if (found !== undefined) await this.#values.add(found.type, program);
        const text = found && JSON.stringify(found.prefix + this.#values.textOf(found.type));
        types.push(found && { type: found.type, text: text! });
      }
      return types;
    };
    const names = typeArguments.types.map((type) => this.#values.textOf(type));
    const head =
      `{"kind":"call","function":"${functionText(target)}"` +
      (names.length === 0 ? '' : `,"type_arguments":${JSON.stringify(names)}`) +
      (target.isNative ? ',"is_native":true' : '');
    const parameters = await typesOf(target.parameters);
    this.#signatures.set(callee, { head, parameters, results: await typesOf(target.results) });
  }

  /** Steps with those inside them, up to the bracket that ends the list. Calls may be a thousand levels deep. */
  async #steps(caller: Caller, to: Pieces): Promise<void> {
    const open = [{ items: caller.all(), at: 0 }];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const step = top.items[top.at];
      let text: string;
      if (step === undefined) {
        open.pop();
        text = open.length === 0 ? ']' : ']}';
      } else {
        text = (top.at === 0 ? '' : ',') + this.#head(step);
        top.at += 1;
        if (step.kind === 'call') open.push({ items: step.all(), at: 0 });
      }
      const turn = to.add(text);
      if (turn !== undefined) await turn;
    }
  }

  #callHead(call: RecordedCall): string {
    const { head, parameters, results } = this.#signatures.get(call.callee)!;
    const { args, count, returned, hiddenCalls } = call;
    return (
      head +
      (args === undefined
        ? `,"calls":${count}`
        : `,"arguments":${this.#valuesJson(args, parameters)}`) +
      (call.results === undefined ? '' : `,"results":${this.#valuesJson(call.results, results)}`) +
      (returned < count ? ',"aborted":true' : '') +
      (hiddenCalls === 0 ? '' : `,"hidden_calls":${hiddenCalls}`) +
      `,"gas":${gasJson(call)},"steps":[`
    );
  }

  #valuesJson(
    values: readonly RecordedValue[],
    types: readonly (SignatureType | undefined)[],
  ): string {
    const items = values.map((value, place) => {
      const type = types[place];
      if (type === undefined) return '{"type":null}';
      const json = this.#values.json(value, type.type);
      return `{"type":${type.text}${member('value', json)}}`;
    });
    return `[${items.join(',')}]`;
  }

  /** The JSON of a step; of a call, only what precedes its steps. */
  #head(step: Step): string {
    if (step.kind === 'call') return this.#callHead(step);
    if (step.kind === 'access') return this.#accessJson(step);
    const { data, typeTag } = step.event;
    const type = JSON.stringify(formatTypeTag(typeTag));
    return `{"kind":"event","type":${type}${member('data', this.#values.bcsJson(data, typeTag))}}`;
  }

  #accessJson({ operation, type, place, hasValue, before, after }: Access): string {
    const [beforeJson, afterJson] = [
      this.#values.json(before, type),
      this.#values.json(after?.value, type),
    ];
    const isSame =
      after?.hasValue === hasValue &&
      (!hasValue || (afterJson !== undefined && afterJson === beforeJson));
    const isWrite = after !== undefined && !isSame;
    const placeJson =
      'address' in place
        ? `"address":${addressJson(place.address)}`
        : `"handle":${addressJson(place.handle)},` +
          `"key_type":${JSON.stringify(this.#values.textOf(place.keyType))}` +
          member('key', this.#values.json(place.key, place.keyType));
    return (
      `{"kind":"${isWrite ? 'write' : 'read'}","operation":"${operation}",${placeJson},` +
      `"type":${JSON.stringify(this.#values.textOf(type))},"exists":${hasValue}` +
      member(isWrite ? 'before' : 'value', beforeJson) +
      (isWrite ? member('after', after.hasValue ? afterJson : 'null') : '') +
      '}'
    );
  }
}

function gasJson({ ownGas, totalGas }: Caller): string {
  return `{"own":${ownGas},"total":${totalGas}}`;
}

export function functionText({ module: { id }, name }: LoadedFunction): string {
  return isScript(id) ? 'script' : `${formatAddress(id.address)}::${id.name}::${name}`;
}

/** The type of a parameter or result; `undefined` for one that is above the limits of types. */
function resolveType(
  token: SignatureToken,
  { callee, program }: RecordedCall,
): { readonly type: VmType; readonly prefix: string } | undefined {
  const isReference = token.kind === 'reference';
  const { function: target, typeArguments } = callee;
  try {
    const valueToken = isReference ? token.to : token;
    const type = program.typeOfToken(target.module.compiled, valueToken, typeArguments.types);
    return { type, prefix: isReference ? (token.mutable ? '&mut ' : '&') : '' };
  } catch (error) {
    if (!(error instanceof VmError)) throw error;
    return undefined;
  }
}

/** Why a part ended early: the machine's status, the reason for an abort, and the surrounding code. */
async function failureJson({ error, place, program }: RecordedFailure): Promise<string> {
  if (!(error instanceof VmError)) return '{"status":"UNKNOWN"}';
  const { status, subStatus, text, location } = error;
  const info =
    status === 'ABORTED' && subStatus !== undefined && location !== undefined
      ? await abortInfo(location.module, subStatus, text, program.modules)
      : undefined;
  const facts = {
    status,
    ...(subStatus !== undefined && { code: String(subStatus) }),
    ...(info !== undefined && { reason: info.reasonName, description: info.description }),
    ...(info === undefined && text !== undefined && { description: text }),
    ...(place !== undefined && {
      function: functionText(place.function),
      offset: place.at,
      instructions: codeAround(place.function, place.at),
    }),
  };
  return JSON.stringify(facts);
}

function codeAround({ module: { compiled }, definition }: LoadedFunction, at: number) {
  const { code } = compiled.functionDefinitions[definition]!.code!;
  const names = new ModuleNames(compiled);
  const first = Math.max(0, at - CODE_BEFORE);
  return code
    .slice(first, at + CODE_AFTER + 1)
    .map((one, place) => ({ offset: first + place, text: names.instruction(one) }));
}
