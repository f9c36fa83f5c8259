/** How layouts and the encoder find modules, whatever their source. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ModuleId } from '../types/module-id.ts';
import type { CompiledModule } from './compiled.ts';

/**
 * Returns the loaded module of an id, `undefined` if it does not exist.
 * @throws BinaryFormatError (src/move/modules/format.ts) when its bytes do not load.
 */
export interface ModuleLookup {
  (id: ModuleId): MaybePromise<CompiledModule | undefined>;
  /** Whether it always returns the same modules: those of one version. */
  readonly isOfOneVersion?: true;
}
