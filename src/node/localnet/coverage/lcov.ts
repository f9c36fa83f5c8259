/**
 * Coverage by lines of Move sources, in the format of LCOV: of modules whose package was published with a source map,
 * and whose source is in that package or in a folder. A source map names a file by its hash, so no other is taken.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  branchesOf,
  type FunctionCoverage,
  type ModuleCoverage,
} from '../../../execution/coverage-recorder.ts';
import type { CodecValue } from '../../../move/bcs/codec.ts';
import { tryParse } from '../../../move/errors.ts';
import { SourceMap } from '../../../move/modules/source-map.ts';

/** The source that was published with a module, as in its package. */
export interface PublishedSource {
  readonly source: Buffer;
  readonly sourceMap: Buffer;
}

/** Bytes of a source or a source map, at most. */
const MAX_UNZIPPED_BYTES = 16 * 1024 * 1024;
/** Maximum files and folders that are searched for sources. */
const MAX_SEARCHED_ENTRIES = 100_000;
const SKIPPED = new Set(['node_modules', 'build']);

/**
 * Files of Move sources in a folder, by their SHA-256 in hex. Unreadable entries below it are left out, and so are
 * entries beyond `maxEntries`. Throws the system's error if the folder itself is unreadable.
 */
export function sourceFiles(
  folder: string,
  maxEntries = MAX_SEARCHED_ENTRIES,
): Map<string, string> {
  const found = new Map<string, string>();
  const entries = entriesOf(folder);
  for (let at = 0; at < Math.min(entries.length, maxEntries); at += 1) {
    const entry = entries[at]!;
    const path = join(entry.parentPath, entry.name);
    const isSkipped = SKIPPED.has(entry.name) || entry.name.startsWith('.');
    if (entry.isDirectory() && !isSkipped) {
      for (const child of ifReadable(() => entriesOf(path)) ?? []) entries.push(child);
    }
    if (!entry.isFile() || !entry.name.endsWith('.move')) continue;
    const source = ifReadable(() => readFileSync(path));
    if (source !== undefined) found.set(digestOf(source), path);
  }
  return found;
}

function entriesOf(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}

/** `undefined` if the system denies reading. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).syscall !== 'string') throw error;
    return undefined;
  }
}

/**
 * @param files paths by digests, as `sourceFiles` returns them
 * @param saveSource stores a source that only the package has @returns its path
 * @returns undefined without a source map, or without the source that it describes
 */
export function lcovOf(
  module: ModuleCoverage,
  published: PublishedSource,
  files: ReadonlyMap<string, string>,
  saveSource: (source: Buffer) => string,
): string | undefined {
  const mapBytes = unzipped(published.sourceMap);
  const map = mapBytes && tryParse(() => SourceMap.decode(mapBytes));
  if (map === undefined) return undefined;
  const { file } = map.place;
  let path = files.get(file.toString('hex'));
  let source: Buffer | undefined = path === undefined ? undefined : readFileSync(path);
  if (source === undefined) {
    source = unzipped(published.source);
    if (source === undefined || digestOf(source) !== file.toString('hex')) return undefined;
    path = saveSource(source);
  }
  return record(path!, module, map, new Lines(source));
}

type FunctionMap = CodecValue<typeof SourceMap>['functions'][number]['value'];

/** What one function adds to the record of its file. */
interface FunctionLines {
  readonly name: string;
  readonly line: number;
  readonly calls: number;
  /** How often the code of a line was executed, by line. */
  readonly hits: ReadonlyMap<number, number>;
  /** Lines of conditional branches, their places, and how often each way was taken. */
  readonly branches: readonly (readonly [line: number, at: number, counts: readonly number[]])[];
}

function record(
  path: string,
  { functions }: ModuleCoverage,
  map: CodecValue<typeof SourceMap>,
  lines: Lines,
): string {
  const file = map.place.file;
  const found = functions.flatMap((one) => {
    const known = map.functions.find(({ definition }) => definition === one.definition);
    return known === undefined ? [] : [linesOf(one, known.value, file, lines)];
  });
  const hits = new Map<number, number>();
  for (const one of found) {
    for (const [line, count] of one.hits) hits.set(line, Math.max(count, hits.get(line) ?? 0));
  }
  const branches = found.flatMap((one) => one.branches);
  const branchCounts = branches.flatMap(([, , counts]) => counts);
  const done = (counts: readonly number[]) => counts.filter((count) => count > 0).length;
  const sorted = [...hits].sort(([left], [right]) => left - right);
  return [
    'TN:',
    `SF:${path}`,
    ...found.map(({ name, line }) => `FN:${line},${name}`),
    ...found.map(({ name, calls }) => `FNDA:${calls},${name}`),
    `FNF:${found.length}`,
    `FNH:${done(found.map(({ calls }) => calls))}`,
    ...branches.flatMap(([line, at, counts]) =>
      counts.map((count, outcome) => `BRDA:${line},${at},${outcome},${count}`),
    ),
    `BRF:${branchCounts.length}`,
    `BRH:${done(branchCounts)}`,
    ...sorted.map(([line, count]) => `DA:${line},${count}`),
    `LF:${sorted.length}`,
    `LH:${done(sorted.map(([, count]) => count))}`,
    'end_of_record\n',
  ].join('\n');
}

function linesOf(
  one: FunctionCoverage,
  { place, code }: FunctionMap,
  file: Buffer,
  lines: Lines,
): FunctionLines {
  const lineAt = (at: number): number | undefined => {
    const location = code.findLast(({ offset }) => offset <= at)?.place;
    // Code of inline functions comes from other files.
    return location === undefined || !location.file.equals(file)
      ? undefined
      : lines.numberAt(location.start);
  };
  const hits = new Map<number, number>();
  for (const [at, count] of one.hits.entries()) {
    const line = lineAt(at);
    if (line !== undefined) hits.set(line, Math.max(count, hits.get(line) ?? 0));
  }
  const branches = branchesOf(one).flatMap((at) => {
    const line = lineAt(at);
    const jumps = one.jumps[at]!;
    return line === undefined ? [] : [[line, at, [jumps, one.hits[at]! - jumps]] as const];
  });
  return { name: one.name, line: lines.numberAt(place.start), calls: one.hits[0]!, hits, branches };
}

/** Numbers of lines, from 1. */
class Lines {
  readonly #starts: readonly number[];

  constructor(source: Buffer) {
    const starts = [0];
    for (let at = source.indexOf(10); at >= 0; at = source.indexOf(10, at + 1)) starts.push(at + 1);
    this.#starts = starts;
  }

  numberAt(offset: number): number {
    return this.#starts.findLastIndex((start) => start <= offset) + 1;
  }
}

function digestOf(source: Uint8Array): string {
  return createHash('sha256').update(source).digest('hex');
}

/** `undefined` for empty or uncompressed bytes. */
function unzipped(bytes: Buffer): Buffer | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_UNZIPPED_BYTES });
  } catch {
    return undefined;
  }
}
