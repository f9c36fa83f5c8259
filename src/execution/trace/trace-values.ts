/** Values of a trace in the JSON of the API. Layouts of their types are looked up first. */
import { MoveError } from '../../move/errors.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { formatTypeTag, type TypeTag } from '../../move/types/type-tag.ts';
import type { Layout } from '../../move/values/layout.ts';
import { resolveLayout } from '../../move/values/layout-resolver.ts';
import { renderValue } from '../../move/values/value-json.ts';
import { Meter } from '../../vm/meter.ts';
import type { Program } from '../../vm/program/program.ts';
import type { VmType } from '../../vm/program/vm-type.ts';
import { VmError } from '../../vm/status/status.ts';
import { encodeValue } from '../../vm/value-bcs.ts';
import type { RecordedValue } from './call-tree.ts';

/** Largest stored value that is shown, in bytes. */
const MAX_RENDERED_BYTES = 64 * 1024;

/** Limits for writing one value; recorded values are not larger. */
const LIMITS = {
  maxUnits: 1_000_000,
  maxOperationUnits: 1_000_000,
  maxAllocatedBytes: 16 * 1024 * 1024,
  ...{ maxFrames: 0, maxReads: 0 },
};

/** The code whose modules declare the types. */
export type CodeOf = Pick<Program, 'modules'>;

interface KnownType {
  readonly text: string;
  /** Absent for a type that cannot be laid out. */
  readonly jsonLayout: Layout | undefined;
  readonly bcsLayout: Layout | undefined;
}

export class TraceValues {
  readonly #types = new Map<VmType, KnownType>();
  readonly #layouts = new Map<string, Layout | undefined>();

  /** Looks up the layouts that `json` needs. */
  async add(type: VmType, program: Program): Promise<void> {
    if (this.#types.has(type)) return;
    const jsonLayout = await this.#layoutOf(type.tag, program);
    const bcsLayout = await ifResolvable(() => program.layout(type));
    this.#types.set(type, { text: formatTypeTag(type.tag), jsonLayout, bcsLayout });
  }

  textOf(type: VmType): string {
    return this.#types.get(type)?.text ?? formatTypeTag(type.tag);
  }

  /** `undefined` for a value that is not shown. */
  json(value: RecordedValue, type: VmType): string | undefined {
    if (value === undefined) return undefined;
    if (type.tag.kind === 'signer') return addressJson((value as RecordedValue[])[0] as Address);
    const { jsonLayout, bcsLayout } = this.#types.get(type) ?? {};
    if (jsonLayout === undefined || bcsLayout === undefined) return undefined;
    return ifRenderable(() =>
      renderValue(jsonLayout, encodeValue(bcsLayout, value, new Meter(LIMITS))),
    );
  }

  /** The same of a value in BCS. */
  async storedJson(bytes: Uint8Array, tag: TypeTag, from: CodeOf): Promise<string | undefined> {
    await this.addTag(tag, from);
    return this.bcsJson(bytes, tag);
  }

  /** Looks up the layouts that `bcsJson` needs. */
  async addTag(tag: TypeTag, from: CodeOf): Promise<void> {
    await this.#layoutOf(tag, from);
  }

  bcsJson(bytes: Uint8Array, tag: TypeTag): string | undefined {
    if (bytes.length > MAX_RENDERED_BYTES) return undefined;
    const layout = this.#layouts.get(formatTypeTag(tag));
    return layout && ifRenderable(() => renderValue(layout, bytes));
  }

  async #layoutOf(tag: TypeTag, { modules }: CodeOf): Promise<Layout | undefined> {
    const text = formatTypeTag(tag);
    if (!this.#layouts.has(text)) {
      this.#layouts.set(text, await ifResolvable(() => resolveLayout(tag, modules)));
    }
    return this.#layouts.get(text);
  }
}

/** A member that follows others; empty for a value that is not shown. */
export function member(name: string, json: string | undefined): string {
  return json === undefined ? '' : `,"${name}":${json}`;
}

export function addressJson(address: Address): string {
  return `"${formatAddress(address)}"`;
}

function isUnrenderable(error: unknown): boolean {
  return error instanceof MoveError || error instanceof VmError;
}

async function ifResolvable<T>(make: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (!isUnrenderable(error)) throw error;
    return undefined;
  }
}

function ifRenderable<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!isUnrenderable(error)) throw error;
    return undefined;
  }
}
