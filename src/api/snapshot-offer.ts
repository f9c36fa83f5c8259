/** Snapshots that a node offers to new nodes (docs/snapshots.md). */

export interface OfferedSnapshot {
  readonly name: string;
  readonly chainId: number;
  /** Of the state. */
  readonly version: bigint;
  /** The last one with a transaction. */
  readonly newestVersion: bigint;
  readonly timestampUsecs: bigint;
}

export interface OfferedFile {
  readonly bytes: Buffer;
  /** Differs when the bytes do. */
  readonly tagCore: string;
}

/** Where the snapshots are. */
export interface SnapshotOffer {
  /** The newest first. */
  list(): Promise<readonly OfferedSnapshot[]>;
  /** `undefined` if there is no such file. @throws ApiError 503 when too many are being read */
  file(snapshot: string, name: string): Promise<OfferedFile | undefined>;
}
