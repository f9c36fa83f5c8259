/** The files of a coverage report: text for people, and LCOV for tools (docs/traces.md). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CoverageRecorder } from '../../../execution/coverage-recorder.ts';
import type { LedgerView } from '../../../ledger/ledger-view.ts';
import { type Address, formatAddress } from '../../../move/types/address.ts';
import { frameworkTag } from '../../../move/types/framework-tag.ts';
import type { ModuleId } from '../../../move/types/module-id.ts';
import { resourceStateKey, StateKey } from '../../../move/types/state-key.ts';
import { StateValue } from '../../../move/types/state-value.ts';
import { packageRegistryCodec } from '../../../move/values/framework-resource.ts';
import { LedgerError } from '../../../state/ledger-error.ts';
import { coverageText } from './coverage-text.ts';
import { lcovOf, type PublishedSource, sourceFiles } from './lcov.ts';

interface CoverageRequest {
  readonly recorder: CoverageRecorder;
  /** Modules that were published, whether they have run or not. */
  readonly published: Iterable<ModuleId>;
  readonly view: LedgerView;
  /** Where Move sources are; absent: only those of packages count. */
  readonly sources: string | undefined;
}

/** Writes `coverage.txt` and `lcov.info`, and sources that only packages have. @returns the text */
export async function writeCoverage(
  folder: string,
  { recorder, published, view, sources }: CoverageRequest,
): Promise<string> {
  for (const id of published) {
    const module = await view.lookupModule(id);
    if (module !== undefined) recorder.add(module);
  }
  const { modules } = recorder;
  mkdirSync(folder, { recursive: true });
  const text = coverageText(modules);
  writeFileSync(join(folder, 'coverage.txt'), text);
  const files = sources === undefined ? new Map<string, string>() : sourceFiles(sources);
  const records: string[] = [];
  const packages = new Map<Address, ReadonlyMap<string, PublishedSource>>();
  for (const module of modules) {
    const { address, name } = module.id;
    const known = packages.get(address) ?? (await sourcesAt(address, view));
    packages.set(address, known);
    const own = known.get(name);
    const saveSource = (source: Buffer): string => {
      const path = join(folder, 'sources', formatAddress(address), `${name}.move`);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, source);
      return path;
    };
    const record = own && lcovOf(module, own, files, saveSource);
    if (record !== undefined) records.push(record);
  }
  writeFileSync(join(folder, 'lcov.info'), records.join(''));
  return text;
}

/** The sources that the packages of an account have of their modules, by name. */
async function sourcesAt(
  address: Address,
  view: LedgerView,
): Promise<ReadonlyMap<string, PublishedSource>> {
  const key = StateKey.encode(resourceStateKey(address, frameworkTag('code', 'PackageRegistry')));
  try {
    const { bytes } = StateValue.decode(await view.stateItems.rawStateValue(key, undefined));
    const { packages } = packageRegistryCodec.decode(Buffer.from(bytes));
    return new Map(packages.flatMap(({ modules }) => modules.map((one) => [one.name, one])));
  } catch (error) {
    // Modules that an edit has published have no package.
    if (error instanceof LedgerError && error.code === 'state_value_not_found') return new Map();
    throw error;
  }
}
