/** Errors of backups that cannot be restored. */

/**
 * - `backup_unreachable`: the storage does not respond, or refuses;
 * - `backup_incomplete`: files or ranges that are needed do not exist;
 * - `backup_malformed`: a file does not have the format, or contradicts the file that names it;
 * - `backup_unproved`: content that the signatures and hashes do not cover;
 * - `waypoint_mismatch`: the backup is not of the waypoint's ledger.
 */
type BackupErrorCode =
  | 'backup_unreachable'
  | 'backup_incomplete'
  | 'backup_malformed'
  | 'backup_unproved'
  | 'waypoint_mismatch';

/** A backup that cannot be restored. None of it is used. The message is one line and names the file. */
export class BackupError extends Error {
  readonly code: BackupErrorCode;
  readonly file: string | undefined;

  constructor(code: BackupErrorCode, detail: string, file?: string, options?: ErrorOptions) {
    super(file === undefined ? detail : `${file}: ${detail}`, options);
    this.name = this.constructor.name;
    this.code = code;
    this.file = file;
  }
}

export function malformed(file: string, detail: string, cause?: unknown): BackupError {
  return new BackupError('backup_malformed', detail, file, { cause });
}

export function unproved(file: string, detail: string, cause?: unknown): BackupError {
  return new BackupError('backup_unproved', detail, file, { cause });
}
