/** Functions of a program. */
import type { FunctionHandle, SignatureToken, Visibility } from '../../move/modules/compiled.ts';
import type { LoadedModule } from './loaded-module.ts';

export class LoadedFunction {
  readonly module: LoadedModule;
  readonly name: string;
  /** With type parameters (their constraints) and attributes. */
  readonly handle: FunctionHandle;
  readonly visibility: Visibility;
  readonly isEntry: boolean;
  readonly isNative: boolean;
  /** In the tables of `module.compiled`. */
  readonly parameters: readonly SignatureToken[];
  readonly results: readonly SignatureToken[];

  constructor(module: LoadedModule, definition: number) {
    const { compiled } = module;
    const { handle, visibility, isEntry, isNative } = compiled.functionDefinitions[definition]!;
    this.module = module;
    this.handle = compiled.functionHandles[handle]!;
    this.name = compiled.identifiers[this.handle.name]!;
    this.visibility = visibility;
    this.isEntry = isEntry;
    this.isNative = isNative;
    this.parameters = compiled.signatures[this.handle.parameters]!;
    this.results = compiled.signatures[this.handle.return]!;
  }
}
