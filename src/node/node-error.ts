/** Failures of a command, or of starting a node. */

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
  | 'fork_failed'
  | 'damaged'
  | 'snapshot_refused'
  | 'snapshot_exists'
  | 'snapshot_locked'
  | 'backup_refused'
  | 'snapshot_unavailable'
  | 'bad_input'
  | 'nodes_differ'
  | 'not_comparable';

/** `message` is one line that tells what failed and what to do; `exitCode` is 1 (failed) or 2 (wrong usage). */
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

export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
