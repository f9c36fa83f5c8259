/**
 * What a part of an examination saves, so that a later run can continue it: the versions are one part, the columns the
 * other. It is all that the part has found, and how far it has read, at a moment when both agree.
 */
import { deserialize, serialize } from 'node:v8';
import { COLUMNS, type Column, type RowKey } from '../store/columns/columns.ts';
import { type ColumnDigest, RowsDigest, type SavedRowsDigest } from '../store/read/digest.ts';
import {
  type ColumnRead,
  type Damage,
  DamageList,
  type ListedDamages,
  type VerifyContext,
} from './context.ts';
import { RowSums, type SavedSums } from './row-sums.ts';

/** A column that the part has read, by number; without a digest: it cannot be read as a whole. */
export type SavedDigest = readonly [
  column: number,
  digest: Omit<ColumnDigest, 'column'> | undefined,
];

interface SavedRead {
  readonly column: number;
  readonly last: RowKey | undefined;
  readonly digest: SavedRowsDigest | undefined;
}

interface SavedFindings {
  readonly damages: ListedDamages;
  readonly above: ListedDamages;
  readonly found: SavedSums;
  readonly digests: readonly SavedDigest[];
  readonly reads: readonly SavedRead[];
}

type Findings = Pick<VerifyContext, 'damages' | 'above' | 'found' | 'digests' | 'reads'>;

/** A part with `State`, how far it is, as bytes. */
export interface SavedPart<State> {
  readonly findings: SavedFindings;
  readonly state: State;
}

/** @param damages that are listed in the part */
export type OnSave = (part: Uint8Array, damages: readonly Damage[]) => void;

/** Saves a part from time to time. */
export class PartSaver {
  readonly #onSave: OnSave | undefined;
  readonly #intervalMs: number;
  #savedMs = performance.now();

  /** @param onSave absent: nothing is saved */
  constructor(onSave: OnSave | undefined, intervalMs = 0) {
    this.#onSave = onSave;
    this.#intervalMs = intervalMs;
  }

  /**
   * Saves the part if the interval has passed. Call it only when the part could be continued from its state.
   * @param shouldForce true: saves in any case
   */
  saveIfDue(findings: Findings, state: () => unknown, shouldForce = false): void {
    if (this.#onSave === undefined) return;
    if (!shouldForce && performance.now() - this.#savedMs < this.#intervalMs) return;
    const part = serialize({ findings: savedFindings(findings), state: state() });
    this.#onSave(part, [...findings.damages.listed]);
    this.#savedMs = performance.now();
  }
}

export function readPart<State>(part: Uint8Array): SavedPart<State> {
  return deserialize(part) as SavedPart<State>;
}

function savedFindings({ damages, above, found, digests, reads }: Findings): SavedFindings {
  return {
    damages: { listed: damages.listed, count: damages.count },
    above: { listed: above.listed, count: above.count },
    found: found.save(),
    digests: savedDigests(digests),
    reads: [...reads].map(([{ number }, { last, digest }]) => ({
      column: number,
      last: last && { partition: last.partition, order: last.order },
      digest: digest?.save(),
    })),
  };
}

export function savedDigests(digests: VerifyContext['digests']): readonly SavedDigest[] {
  return [...digests].map(([{ number }, found]) => {
    if (found === undefined) return [number, undefined];
    const { rows, bytes, digest } = found;
    return [number, { rows, bytes, digest }];
  });
}

export function readDigests(saved: readonly SavedDigest[]): VerifyContext['digests'] {
  return new Map(
    saved.map(([number, found]) => {
      const column = columnOf(number);
      return [column, found && { ...found, column, digest: Buffer.from(found.digest) }];
    }),
  );
}

/** Findings to begin with. */
export function findingsOf(
  secret: Uint8Array,
  maxListed: number | undefined,
  saved: SavedFindings | undefined,
): Findings {
  const reads = (saved?.reads ?? []).map(({ column: number, last, digest }) => {
    const column = columnOf(number);
    const read: ColumnRead = { last, digest: digest && new RowsDigest(column, digest) };
    return [column, read] as const;
  });
  return {
    damages: new DamageList(maxListed, saved?.damages),
    above: new DamageList(maxListed, saved?.above),
    found: new RowSums(secret, saved?.found),
    digests: readDigests(saved?.digests ?? []),
    reads: new Map(reads),
  };
}

function columnOf(number: number): Column {
  return COLUMNS.find((column) => column.number === number)!;
}
