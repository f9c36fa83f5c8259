/** Compares Daybook's verdicts on the recorded modules, scripts and upgrades with the reference's. */
import {
  type CompiledModule,
  type CompiledScript,
  DEFAULT_LOADER_LIMITS,
  moduleIdOf,
} from '../../../src/move/modules/compiled.ts';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { readModule, readScript } from '../../../src/move/modules/read.ts';
import type { ModuleId } from '../../../src/move/types/module-id.ts';
import {
  type CompatibilityRules,
  checkCompatibility,
  DEFAULT_COMPATIBILITY,
} from '../../../src/vm/publish/compatibility.ts';
import {
  checkEvents,
  checkMetadata,
  checkResourceGroups,
  checkScriptEvents,
} from '../../../src/vm/publish/metadata-check.ts';
import {
  checkLinks,
  checkNativeStructs,
  hasInitModule,
  loadingStatus,
} from '../../../src/vm/publish/module-checks.ts';
import { publicationChecks } from '../../../src/vm/publish/publication.ts';
import { VmError } from '../../../src/vm/status/status.ts';
import {
  patched,
  type UpgradeVector,
  type VectorFile,
  type Verdict,
  type VerifierVector,
} from './vectors.ts';
import { verifyModule, verifyScript } from './verify-at-once.ts';

/** `ok`, or the status of the first fault. */
function statusOf(check: () => void): string {
  try {
    check();
    return 'ok';
  } catch (error) {
    if (error instanceof VmError) return error.status;
    if (error instanceof BinaryFormatError) return loadingStatus(error.code);
    throw error;
  }
}

function codeOf(verdict: Verdict): string {
  return verdict === 'ok' ? 'ok' : verdict.code;
}

type Stored = (id: ModuleId) => CompiledModule | undefined;

function storedFrom(modules: readonly CompiledModule[]): Stored {
  const keyOf = ({ address, name }: ModuleId) => `${address}::${name}`;
  const known = new Map(modules.map((module) => [keyOf(moduleIdOf(module)), module]));
  return (id) => known.get(keyOf(id));
}

/** The framework without the module itself, because a published module counts as new. */
function without(stored: Stored, module: CompiledModule): Stored {
  const self = moduleIdOf(module);
  return (id) => (id.address === self.address && id.name === self.name ? undefined : stored(id));
}

/** Every differing verdict, in words. */
export function verifierDifferences(
  file: VectorFile<VerifierVector>,
  vectors: readonly VerifierVector[],
): string[] {
  const stored = storedFrom(file.dependencies.map((bytes) => readModule(bytes)));
  const found: string[] = [];
  for (const vector of vectors) {
    const { k, b, o, p, c = 'default', t } = vector;
    const bytes = b === undefined ? patched(file.originals.get(o!)!, p!) : Buffer.from(b, 'hex');
    const { limits, verifier } = file.configs.get(c)!;
    const compare = (what: string, wanted: string, check: () => void) => {
      const given = statusOf(check);
      if (given !== wanted) found.push(`${k} ${t} (${o}, ${c}) ${what}: ${given}, not ${wanted}`);
    };
    let binary: CompiledModule | CompiledScript | undefined;
    compare('verify', codeOf(vector.verify), () => {
      binary = k === 'module' ? readModule(bytes, limits) : readScript(bytes, limits);
      if (binary.kind === 'script') verifyScript(binary, verifier);
      else {
        verifyModule(binary, verifier);
        checkNativeStructs(binary);
      }
    });
    if (binary === undefined) continue;
    const loaded = binary;
    if (vector.link !== undefined) {
      compare('link', codeOf(vector.link), () => checkLinks(loaded, stored));
    }
    if (vector.publish === undefined) continue;
    compare('publish', codeOf(vector.publish), () => {
      if (loaded.kind === 'script') {
        checkScriptEvents(loaded);
        return;
      }
      const published = { module: loaded, byteLength: bytes.length };
      const rules = {
        verifier,
        compatibility: DEFAULT_COMPATIBILITY,
        isUnstableAllowed: true,
      };
      Array.from(publicationChecks([published], without(stored, loaded), rules));
      hasInitModule(loaded);
    });
  }
  return found;
}

/** Settings of the compatibility check under which verdicts were recorded. */
const SETTINGS: readonly [
  'compat' | 'friends' | 'no-downgrade' | 'entry-free' | 'no-layout',
  Partial<CompatibilityRules>,
][] = [
  ['compat', {}],
  ['friends', { checkFriendLinking: true }],
  ['no-downgrade', { allowFriendEntryToPrivate: false }],
  ['entry-free', { treatEntryAsPublic: false }],
  ['no-layout', { checkStructLayout: false }],
];

export function upgradeDifferences(
  file: VectorFile<UpgradeVector>,
  dependencies: readonly Buffer[],
): string[] {
  const found: string[] = [];
  const framework = storedFrom(dependencies.map((bytes) => readModule(bytes)));
  for (const vector of file.vectors) {
    const oldBytes = file.originals.get(vector.old)!;
    const newBytes =
      vector.new === undefined ? patched(oldBytes, vector.p!) : file.originals.get(vector.new)!;
    const old = readModule(oldBytes, DEFAULT_LOADER_LIMITS);
    const updated = readModule(newBytes, DEFAULT_LOADER_LIMITS);
    const compare = (what: string, wanted: string, check: () => void) => {
      const given = statusOf(check);
      if (given === wanted) return;
      found.push(`${vector.t} (${vector.old}) ${what}: ${given}, not ${wanted}`);
    };
    for (const [name, rules] of SETTINGS) {
      compare(name, vector[name] ?? vector.compat, () =>
        checkCompatibility(old, updated, { ...DEFAULT_COMPATIBILITY, ...rules }),
      );
    }
    const before = without(framework, old);
    const self = moduleIdOf(old);
    const stored: Stored = (id) =>
      id.address === self.address && id.name === self.name ? old : before(id);
    compare('metadata', vector.metadata ?? 'ok', () => checkMetadata(updated));
    compare('groups', vector.groups ?? 'ok', () => checkResourceGroups([updated], stored));
    compare('events', vector.events ?? 'ok', () =>
      checkEvents(updated, stored(moduleIdOf(updated))),
    );
    compare('verify', vector.verify, () => verifyModule(updated));
  }
  return found;
}
