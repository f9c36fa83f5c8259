/** Failures of a command or of starting a node: one clear line that says what and what to do. */

export type NodeErrorCode =
  | 'bad_setting'
  | 'bad_config_file'
  | 'no_ledger'
  | 'ledger_exists'
  | 'not_a_genesis'
  | 'waypoint_mismatch'
  | 'file_not_readable'
  | 'listen_failed'
  | 'data_not_usable'
  | 'worker_failed'
  | 'follow_stopped'
  | 'damaged'
  | 'bad_input';

/** `message` is one line for people; `exitCode` is 1 (failed) or 2 (wrong usage). */
export class NodeError extends Error {
  readonly code: NodeErrorCode;
  readonly exitCode: 1 | 2;

  constructor(
    code: NodeErrorCode,
    message: string,
    options: ErrorOptions & { exitCode?: 1 | 2 } = {},
  ) {
    super(message, options);
    this.name = 'NodeError';
    this.code = code;
    this.exitCode = options.exitCode ?? 1;
  }
}
