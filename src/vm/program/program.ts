/**
 * The modules of one version, linked: functions, types and layouts as code finds them while it runs. Shared by all runs
 * at that version; what it remembers follows from the modules alone.
 */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { AbilitySet, TypeTag } from '../../move/types/type-tag.ts';
import type { NativeLookup } from '../native.ts';
import type { Layout } from './layout.ts';
import type { LoadedFunction } from './loaded-function.ts';
import type { LoadedModule } from './loaded-module.ts';
import type { VmType } from './vm-type.ts';

export interface Program {
  readonly modules: ModuleLookup;
  readonly natives: NativeLookup;
  /** @throws VmError LINKER_ERROR, or rejects with it */
  module(id: ModuleId): MaybePromise<LoadedModule>;
  /** @throws VmError LINKER_ERROR, FUNCTION_RESOLUTION_FAILURE, or rejects with it */
  function(id: ModuleId, name: string): MaybePromise<LoadedFunction>;
  /** The type of a tag; whether it exists is not looked at. @throws VmError above the limits of types */
  type(tag: TypeTag): VmType;
  /** @throws VmError TYPE_RESOLUTION_FAILURE and others, or rejects with it */
  layout(type: VmType): MaybePromise<Layout>;
  abilities(type: VmType): MaybePromise<AbilitySet>;
}
