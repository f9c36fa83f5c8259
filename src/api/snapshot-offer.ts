/** Snapshots that a node offers to new nodes (docs/snapshots.md). */

export interface OfferedSnapshot {
  readonly name: string;
  readonly chainId: number;
  readonly version: bigint;
  /** The last version with a transaction. */
  readonly newestVersion: bigint;
  readonly timestampUsecs: bigint;
}

export interface OfferedFile {
  readonly bytes: Buffer;
  /** Differs when the bytes do. */
  readonly tagCore: string;
}

export interface SnapshotOffer {
  list(): Promise<readonly OfferedSnapshot[]>;
  /** Names of the metadata files of a snapshot; `undefined` if there is no such snapshot. */
  metadataNames(snapshot: string): Promise<readonly string[] | undefined>;
  /** `undefined` if there is no such file. @throws ApiError 503 when too many are being read */
  file(snapshot: string, folder: string, name: string): Promise<OfferedFile | undefined>;
}
