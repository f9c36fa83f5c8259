/** All checks of a publication, in the order of the reference: the first fault decides (docs/spec/verifier.md §6). */
import {
  type CompiledModule,
  type CompiledScript,
  moduleIdOf,
  moduleIdOfHandle,
} from '../../move/modules/compiled.ts';
import { isUnstable } from '../../move/modules/metadata.ts';
import type { Address } from '../../move/types/address.ts';
import { type ModuleId, moduleKey } from '../../move/types/module-id.ts';
import type { PublishRequest } from '../natives/dispatch.ts';
import { missingModule } from '../program/program.ts';
import { VmError } from '../status/status.ts';
import { DEFAULT_VERIFIER_CONFIG, type VerifierConfig } from '../verifier/model/verifier-config.ts';
import { moduleChecks } from '../verifier/verify.ts';
import {
  type CompatibilityRules,
  checkCompatibility,
  DEFAULT_COMPATIBILITY,
  mismatch,
} from './compatibility.ts';
import { checkComplexity } from './complexity.ts';
import { checkEvents, checkMetadata, checkResourceGroups } from './metadata-check.ts';
import {
  checkAccessSpecifiers,
  checkLinks,
  checkNativeStructs,
  checkUserNatives,
} from './module-checks.ts';

/** A module that is published, and the length of its bytes. */
interface PublishedModule {
  readonly module: CompiledModule;
  readonly byteLength: number;
}

interface PublicationRules {
  readonly verifier: VerifierConfig;
  readonly compatibility: CompatibilityRules;
  /** Whether code that its compiler marks as unstable is accepted. */
  readonly isUnstableAllowed: boolean;
}

const DEFAULT_RULES: PublicationRules = {
  verifier: DEFAULT_VERIFIER_CONFIG,
  compatibility: DEFAULT_COMPATIBILITY,
  isUnstableAllowed: true,
};

export type StoredModuleLookup = (id: ModuleId) => CompiledModule | undefined;

/** What a request states about the modules that it publishes, if anything. */
type RequestedModules = Omit<PublishRequest, 'bundle'> | undefined;

/**
 * Steps are short. The caller handles gas, and the form and run of `init_module`.
 * @param stored modules before the publication
 * @throws VmError
 */
export function* publicationChecks(
  bundle: readonly PublishedModule[],
  stored: StoredModuleLookup,
  rules: PublicationRules = DEFAULT_RULES,
  request?: RequestedModules,
): Generator<void> {
  const modules = bundle.map(({ module }) => module);
  for (const { module, byteLength } of bundle) checkComplexity(module, byteLength);
  if (!rules.isUnstableAllowed && modules.some(isUnstable)) {
    const text = 'code marked unstable is not published on mainnet';
    throw new VmError('UNSTABLE_BYTECODE_REJECTED', { text });
  }
  for (const module of modules) checkUserNatives(module);
  const left = new Set(request?.expected);
  for (const module of modules) {
    if (request !== undefined) checkNames(module, left, request);
    checkMetadata(module);
  }
  checkResourceGroups(modules, stored);
  for (const module of modules) checkEvents(module, stored(moduleIdOf(module)));
  if (left.size > 0) throw mismatch('not all registered modules published');
  const staged = new Map<string, CompiledModule>();
  for (const module of modules) {
    const id = moduleIdOf(module);
    if (request !== undefined) checkAddress(id.address, request.destination);
    const old = stored(id);
    if (old !== undefined) checkCompatibility(old, module, rules.compatibility);
    if (staged.has(moduleKey(id))) throw new VmError('DUPLICATE_MODULE_NAME');
    staged.set(moduleKey(id), module);
    yield;
  }
  const staging = new Staging(staged, stored, rules.verifier);
  for (const key of [...staged.keys()].sort()) {
    yield* staging.check(staged.get(key)!);
  }
}

/** Checks that the request names the module and the modules that it depends on. @throws VmError */
function checkNames(
  module: CompiledModule,
  left: Set<string>,
  { allowed }: NonNullable<RequestedModules>,
): void {
  const { name } = moduleIdOf(module);
  if (!left.delete(name)) throw mismatch(`unregistered module: '${name}'`);
  if (allowed === undefined) return;
  for (const id of dependenciesOf(module)) {
    const names = allowed.get(id.address);
    if (names?.has('') || names?.has(id.name)) continue;
    throw mismatch(`unregistered dependency: '${moduleKey(id)}'`);
  }
}

/** @throws VmError MODULE_ADDRESS_DOES_NOT_MATCH_SENDER */
function checkAddress(address: Address, destination: Address): void {
  if (address === destination) return;
  const text = `Compiled modules address 0x${address} does not match the sender 0x${destination}`;
  throw new VmError('MODULE_ADDRESS_DOES_NOT_MATCH_SENDER', { text });
}

export function dependenciesOf(binary: CompiledModule | CompiledScript): ModuleId[] {
  const self = binary.kind === 'module' ? binary.selfHandle : undefined;
  const others = binary.moduleHandles.filter((_, handle) => handle !== self);
  return others.map((handle) => moduleIdOfHandle(binary, handle));
}

/** Verifies and links modules of a bundle, each verified once. */
class Staging {
  readonly #staged: ReadonlyMap<string, CompiledModule>;
  readonly #stored: StoredModuleLookup;
  readonly #config: VerifierConfig;
  readonly #verified = new Set<CompiledModule>();

  constructor(
    staged: ReadonlyMap<string, CompiledModule>,
    stored: StoredModuleLookup,
    config: VerifierConfig,
  ) {
    this.#staged = staged;
    this.#stored = stored;
    this.#config = config;
  }

  *check(module: CompiledModule): Generator<void> {
    yield* this.#verify(module);
    for (const id of dependenciesOf(module)) {
      const dependency = this.#staged.get(moduleKey(id));
      if (dependency === undefined) continue;
      yield* this.#verify(dependency);
      checkAccessSpecifiers(dependency);
    }
    checkLinks(module, (id) => this.#moduleOf(id));
    checkAccessSpecifiers(module);
    for (const friend of module.friends) {
      const id = moduleIdOfHandle(module, friend);
      if (this.#moduleOf(id) === undefined) throw missingModule(id);
    }
  }

  #moduleOf(id: ModuleId): CompiledModule | undefined {
    return this.#staged.get(moduleKey(id)) ?? this.#stored(id);
  }

  *#verify(module: CompiledModule): Generator<void> {
    if (this.#verified.has(module)) return;
    yield* moduleChecks(module, this.#config);
    checkNativeStructs(module);
    this.#verified.add(module);
  }
}
