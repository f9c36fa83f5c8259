/** A trace for people: its outcome, then the tree of calls, with small calls folded. */
import type {
  Trace,
  TraceFailure,
  TracePart,
  TraceStep,
  TraceValue,
} from '../../../execution/trace/trace-shape.ts';
import { escapeInvisible } from '../../visible-text.ts';
import { jsonText } from '../command-line.ts';

interface TextOptions {
  readonly hasColours: boolean;
  /** Levels of calls that are shown; the way to a failure is always shown. */
  readonly depth: number;
}

/** Colours of terminals, by their codes. */
const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34 } as const;
/** Levels of calls that are shown. */
export const DEFAULT_DEPTH = 4;
/** Longest value that is shown in a line, in characters. */
const MAX_VALUE_CHARACTERS = 60;

interface Level {
  readonly indent: string;
  /** Levels of calls that are not folded. */
  readonly levels: number;
  /** Whether the last of the steps has failed. */
  readonly isFailing: boolean;
}

export function traceText(trace: Trace, options: TextOptions): string {
  return new TraceText(trace, options).text();
}

class TraceText {
  readonly #trace: Trace;
  readonly #options: TextOptions;
  readonly #lines: string[] = [];

  constructor(trace: Trace, options: TextOptions) {
    this.#trace = trace;
    this.#options = options;
  }

  text(): string {
    this.#head();
    for (const part of this.#trace.parts) this.#part(part);
    this.#writes();
    const { steps, values } = this.#trace.omitted;
    if (steps + values > 0) this.#add('', `${steps} steps and ${values} values are not shown`);
    return `${this.#lines.join('\n')}\n`;
  }

  #head(): void {
    const { version, hash = '', type, success, vm_status: status, gas } = this.#trace;
    const used = gas.used === undefined ? '' : `${Number(gas.used).toLocaleString('en')} gas units`;
    this.#add('', this.#in('bold', `${type} ${version} ${hash}`.trim()));
    this.#add(
      '',
      `${this.#in(success ? 'green' : 'red', escapeInvisible(status))}  ${used}`.trim(),
    );
    if (this.#trace.is_recorded === false) {
      this.#add('', this.#in('yellow', 'this is not what the ledger has recorded'));
    }
  }

  #part({ name, gas, steps, failure }: TracePart): void {
    if (gas.total === 0 && steps.length === 0) return;
    this.#add('', '', `${this.#in('bold', name)}  ${this.#gas(gas.total)}`);
    const { depth } = this.#options;
    // Prologue and epilogue are the same for nearly all transactions.
    const isOpen = name === 'function' || depth > DEFAULT_DEPTH;
    this.#steps(steps, {
      indent: '  ',
      levels: isOpen ? depth : 0,
      isFailing: failure !== undefined,
    });
    if (failure !== undefined) this.#failure(failure);
  }

  #steps(steps: readonly TraceStep[], { indent, levels, isFailing }: Level): void {
    let calls = 0;
    let gas = 0;
    for (const step of steps) {
      const leadsToFailure = isFailing && step.aborted === true;
      if (step.kind !== 'call') this.#leaf(step, indent);
      else if (leadsToFailure || (levels > 0 && !isSmall(step))) {
        this.#call(step, indent, leadsToFailure);
        this.#steps(step.steps!, {
          indent: `${indent}  `,
          levels: levels - 1,
          isFailing: leadsToFailure,
        });
      } else {
        calls += step.calls ?? 1;
        gas += step.gas!.total;
        // The effects of a folded call are shown in its place.
        for (const inside of leavesOf(step)) this.#leaf(inside, indent);
      }
    }
    if (calls > 0) {
      const count = `… ${calls} ${calls === 1 ? 'call' : 'calls'}`;
      this.#add(indent, `${this.#in('dim', count)}  ${this.#gas(gas)}`);
    }
  }

  #leaf(step: TraceStep, indent: string): void {
    if (step.kind === 'write') this.#write(step, indent);
    if (step.kind !== 'event') return;
    const text = shortened(`emits ${step.type} ${short(step.data)}`);
    this.#add(indent, this.#in('green', escapeInvisible(text)));
  }

  #call(step: TraceStep, indent: string, isFailing: boolean): void {
    const { type_arguments: types = [], arguments: args, results = [], calls, gas } = step;
    const typed = types.length === 0 ? '' : `<${types.join(', ')}>`;
    const argumentText = args === undefined ? ` × ${calls}` : `(${args.map(valueText).join(', ')})`;
    const resultText = results.length === 0 ? '' : ` → ${results.map(valueText).join(', ')}`;
    const name = this.#in(isFailing ? 'red' : 'blue', step.function!);
    const text = escapeInvisible(shortened(typed + argumentText + resultText));
    this.#add(indent, `${name}${text}  ${this.#gas(gas!.total)}`);
  }

  #write(step: TraceStep, indent: string): void {
    const where = step.address ?? `${step.handle}[${short(step.key)}]`;
    const after = step.after === null ? 'nothing' : short(step.after);
    const before = step.exists === true ? short(step.before) : 'nothing';
    const text = `writes ${step.type} at ${where}: ${before} → ${after}`;
    this.#add(indent, this.#in('yellow', escapeInvisible(shortened(text))));
  }

  #failure({ status, code, reason, description, function: name, ...at }: TraceFailure): void {
    const why = [reason, code, description].filter((part) => part !== undefined && part !== '');
    const where = name === undefined ? '' : ` in ${name} at ${at.offset}`;
    const text = `${status}${where}${why.length === 0 ? '' : `: ${why.join(', ')}`}`;
    this.#add('  ', this.#in('red', escapeInvisible(text)));
    for (const { offset, text: instruction } of at.instructions ?? []) {
      const isHere = offset === at.offset;
      const line = `${isHere ? '→' : ' '} ${String(offset).padStart(4)}  ${escapeInvisible(instruction)}`;
      this.#add('    ', isHere ? this.#in('red', line) : this.#in('dim', line));
    }
  }

  #writes(): void {
    const { writes } = this.#trace;
    if (writes.length > 0) this.#add('', '', this.#in('bold', 'writes'));
    for (const one of writes) {
      const { type, module, raw_key: key } = one;
      const what = type ?? module ?? one.kind;
      const where =
        one.address ?? (one.handle === undefined ? '' : `${one.handle}[${short(one.key ?? key)}]`);
      const octas = Number(one.deposit_octas ?? 0);
      const fee = octas === 0 ? '' : `  ${octas > 0 ? '+' : ''}${octas.toLocaleString('en')} octas`;
      this.#add('  ', `${escapeInvisible(`${what} at ${where}`)}${this.#in('dim', fee)}`);
      const values = `${short(one.before)} → ${short(one.after)}`;
      if (type !== undefined) this.#add('    ', this.#in('dim', escapeInvisible(values)));
    }
  }

  #gas(internal: number): string {
    if (internal === 0) return '';
    const units = internal / this.#trace.gas.unit;
    return this.#in('dim', `${units.toLocaleString('en', { maximumFractionDigits: 3 })} gas`);
  }

  #add(indent: string, ...lines: readonly string[]): void {
    for (const line of lines) this.#lines.push((indent + line).trimEnd());
  }

  #in(colour: keyof typeof COLOURS, text: string): string {
    if (!this.#options.hasColours || text === '') return text;
    return `\u001b[${COLOURS[colour]}m${text}\u001b[0m`;
  }
}

function valueText({ type, value }: TraceValue): string {
  const reference = /^&(?:mut )?/.exec(type ?? '')?.[0] ?? '';
  return reference + short(value);
}

/** Calls that say little: natives, and calls that only lead to one that emits. */
function isSmall({ function: name, is_native: isNative }: TraceStep): boolean {
  return isNative === true || name!.startsWith('0x1::event::');
}

/** Writes and events below a call, in order. */
function* leavesOf({ steps = [] }: TraceStep): Generator<TraceStep> {
  for (const step of steps) {
    if (step.kind === 'call') yield* leavesOf(step);
    else yield step;
  }
}

/** Long numbers in hex with their beginning and their end. */
function shortened(text: string): string {
  return text.replace(/0x([0-9a-f]{4})[0-9a-f]{9,}([0-9a-f]{4})/g, '0x$1…$2');
}

/** JSON, or its beginning; `…` for what is not shown. */
function short(value: unknown): string {
  if (value === undefined) return '…';
  const text = shortened(typeof value === 'string' ? value : jsonText(value));
  const { length } = text;
  return length <= MAX_VALUE_CHARACTERS ? text : `${text.slice(0, MAX_VALUE_CHARACTERS)}…`;
}
