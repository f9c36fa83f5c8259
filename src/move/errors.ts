/**
 * The base of every error that bad input can cause in `src/move/`. Errors are built from facts and carry a
 * code; callers look at `code` (and the facts), never at `message`.
 */
export abstract class MoveError<Code extends string = string> extends Error {
  /** Stable, machine-readable reason, in snake_case. */
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.name = this.constructor.name;
    this.code = code;
  }
}

/** The result of `read`; `undefined` if it throws a MoveError because its input is malformed. */
export function tryParse<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof MoveError) return undefined;
    throw error;
  }
}
