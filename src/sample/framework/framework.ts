/**
 * The sample ledger's own framework: the modules of 0x1, 0x3 and 0x4 whose names and layouts the interface relies
 * on, declared in our own words and assembled without code (see assemble.ts).
 */
import type { ModuleId } from '../../move/types/module-id.ts';
import { assembleModule, DeclarationWorld } from '../assembler/assemble.ts';
import type { ModuleDeclaration, NamedAddresses } from '../assembler/declare.ts';
import { parseModules } from '../assembler/declare-parse.ts';
import { ACCOUNT_MODULES } from './framework-account.ts';
import { ASSET_MODULES } from './framework-asset.ts';
import { CHAIN_MODULES } from './framework-chain.ts';
import { OBJECT_TOKEN_MODULES } from './framework-object-token.ts';
import { STANDARD_MODULES } from './framework-std.ts';
import { FIRST_TOKEN_MODULES } from './framework-token.ts';

/** A module ready to be published. */
export interface AssembledModule extends ModuleId {
  /** The binary. */
  readonly bytes: Buffer;
}

/** Every declaration of the framework, in the order in which genesis publishes them. */
export function frameworkDeclarations(): ModuleDeclaration[] {
  return [
    STANDARD_MODULES,
    CHAIN_MODULES,
    ACCOUNT_MODULES,
    ASSET_MODULES,
    FIRST_TOKEN_MODULES,
    OBJECT_TOKEN_MODULES,
  ].flatMap((text) => parseModules(text));
}

/**
 * Assembles declarations that may use each other and `imports`.
 * @throws DeclarationError when a declaration does not assemble.
 */
export function assembleModules(
  declarations: readonly ModuleDeclaration[],
  imports: readonly ModuleDeclaration[] = [],
): AssembledModule[] {
  const world = new DeclarationWorld([...imports, ...declarations]);
  return declarations.map((declaration) => ({
    address: declaration.address,
    name: declaration.name,
    bytes: assembleModule(declaration, world),
  }));
}

/** Reads and assembles a text of modules on top of the framework. @throws DeclarationError */
export function assembleText(text: string, addresses: NamedAddresses): AssembledModule[] {
  return assembleModules(parseModules(text, addresses), frameworkDeclarations());
}
