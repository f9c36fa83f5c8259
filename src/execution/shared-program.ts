/** The program of the newest version, which also serves earlier versions with the same modules. */
import { andThen, type MaybePromise, settle } from '../maybe-promise.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import type { ModuleView } from '../state/module-view.ts';
import { Program } from '../vm/program/program.ts';

export class SharedProgram {
  readonly program: Program;
  readonly #newest: ModuleView;
  /** The modules that the program has loaded are the same from this version on. */
  #sinceVersion = 0n;

  constructor(newest: ModuleView) {
    this.#newest = newest;
    this.program = new Program((id) =>
      andThen(this.#recordModule(id), () => this.#newest.lookup(id)),
    );
  }

  /** A missing module may have existed before. */
  #recordModule({ address, name }: ModuleId): MaybePromise<void> {
    return andThen(this.#newest.module(address, name), (stored) => {
      const since = stored?.writtenAtVersion ?? this.#newest.version;
      if (since > this.#sinceVersion) this.#sinceVersion = since;
    });
  }

  /**
   * Uses the program at the version of some modules. If a use loads something newer than that, it is repeated with a
   * program of its own.
   */
  useAt<T>(at: ModuleView, use: (program: Program) => MaybePromise<T>): MaybePromise<T> {
    if (at === this.#newest) return use(this.program);
    const isUsable = (): boolean => this.#sinceVersion <= at.version;
    const useOwnProgram = (): MaybePromise<T> => use(new Program(at.lookup));
    return andThen(at.hasSameLimitsAs(this.#newest), (isSame) => {
      if (!isSame || !isUsable()) return useOwnProgram();
      return settle(
        () => use(this.program),
        (result) => (isUsable() ? result : useOwnProgram()),
        (failure) => {
          if (!isUsable()) return useOwnProgram();
          throw failure;
        },
      );
    });
  }
}
