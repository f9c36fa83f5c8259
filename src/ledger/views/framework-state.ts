/**
 * Reads of state as Move code has them, for one call: does a resource exist, and what is in its fields.
 */
import { moduleMetadata } from '../../move/modules/metadata.ts';
import { ADDRESS_ONE, type Address } from '../../move/types/address.ts';
import { hashedStateKey } from '../../move/types/state-key.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { isFeatureEnabled } from '../../move/values/framework-resource.ts';
import { findResource } from '../accounts/resource.ts';
import { fieldOf } from '../events/event-handle.ts';
import { featuresAt } from '../modules/features.ts';
import type { ModuleView } from '../modules/module-view.ts';
import type { PruningGuard } from '../pruning-guard.ts';
import { abortText } from '../transactions/vm-status.ts';
import { NotRunError, ViewError } from './view-error.ts';

/** The reason in an abort code; the bits above are its category. */
const ABORT_REASON_MASK = 0xfffn;

export class FrameworkState {
  readonly modules: ModuleView;
  readonly #guard: PruningGuard;
  /** Readers ask whether a resource exists, then for its fields. */
  readonly #resources = new Map<string, Promise<Buffer | undefined>>();

  constructor(guard: PruningGuard, modules: ModuleView) {
    this.#guard = guard;
    this.modules = modules;
  }

  async exists(address: Address, tag: StructTag): Promise<boolean> {
    return (await this.#resource(address, tag)) !== undefined;
  }

  /** The BCS of a resource. @throws ViewError where there is none */
  async borrow(address: Address, tag: StructTag): Promise<Buffer> {
    const bytes = await this.#resource(address, tag);
    if (bytes !== undefined) return bytes;
    throw new ViewError(`Failed to borrow global resource from ${address}`, 'MISSING_DATA');
  }

  /**
   * The BCS of a field of a resource.
   * @throws ViewError where there is no resource; NotRunError where the framework has no such field
   */
  async field(address: Address, tag: StructTag, name: string): Promise<Buffer> {
    const bytes = await this.borrow(address, tag);
    const field = await fieldOf(tag, bytes, name, this.modules);
    if (field === undefined) throw new NotRunError();
    return field;
  }

  /** The value of a table's item; `undefined` when there is none. */
  async tableItem(handle: Buffer, key: Buffer): Promise<Buffer | undefined> {
    const stateKey = { kind: 'tableItem', handle: handle.toString('hex'), key } as const;
    const hashed = hashedStateKey(stateKey);
    const entry = await this.#guard.state(undefined, hashed, this.modules.version);
    return entry?.bytes;
  }

  async isFeatureEnabled(flag: number): Promise<boolean> {
    const features = await featuresAt(this.#guard, this.modules.version);
    return features !== undefined && isFeatureEnabled(features, flag);
  }

  /**
   * What a module of the framework aborts with (docs/spec/transactions.md §9.3).
   * @param message given by the code that aborts, in place of the description of the code
   */
  async abort(moduleName: string, code: bigint, message?: string): Promise<ViewError> {
    const id = { address: ADDRESS_ONE, name: moduleName };
    const module = await this.modules.lookup(id);
    const errors = module && moduleMetadata(module).errors;
    const error = errors?.get(code & ABORT_REASON_MASK) ?? errors?.get(code);
    const text = abortText({
      location: { kind: 'module', module: id },
      code,
      info: error && {
        reasonName: error.codeName,
        description: message ?? error.codeDescription,
      },
    });
    return new ViewError(text, 'ABORTED');
  }

  #resource(address: Address, tag: StructTag): Promise<Buffer | undefined> {
    const key = address + formatStructTag(tag);
    let found = this.#resources.get(key);
    if (found === undefined) {
      found = findResource(this.#guard, this.modules, address, tag);
      this.#resources.set(key, found);
    }
    return found;
  }
}
