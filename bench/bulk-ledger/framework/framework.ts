/**
 * The modules of a sample ledger: its own framework and the applications, assembled without code (see assemble.ts). The
 * framework has the modules of 0x1, 0x3 and 0x4 whose names and layouts the API relies on, in our own declarations.
 */
import { type AssembledModule, assembleModules } from '../../../src/sample/assembler/assemble.ts';
import type { ModuleDeclaration, NamedAddresses } from '../../../src/sample/assembler/declare.ts';
import { parseModules } from '../../../src/sample/assembler/declare-parse.ts';
import { APPLICATION_ADDRESSES, APPLICATION_MODULES } from './application-modules.ts';
import { ACCOUNT_MODULES } from './framework-account.ts';
import { ASSET_MODULES } from './framework-asset.ts';
import { CHAIN_MODULES } from './framework-chain.ts';
import { OBJECT_TOKEN_MODULES } from './framework-object-token.ts';
import { STANDARD_MODULES } from './framework-std.ts';
import { FIRST_TOKEN_MODULES } from './framework-token.ts';

/** Every declaration of the framework, in the order in which genesis publishes them. */
function frameworkDeclarations(): ModuleDeclaration[] {
  return [
    STANDARD_MODULES,
    CHAIN_MODULES,
    ACCOUNT_MODULES,
    ASSET_MODULES,
    FIRST_TOKEN_MODULES,
    OBJECT_TOKEN_MODULES,
  ].flatMap((text) => parseModules(text));
}

let assembled: readonly AssembledModule[] | undefined;

/** All modules that genesis publishes: the framework's and the applications'. Assembled once. */
export function genesisModules(): readonly AssembledModule[] {
  assembled ??= assembleModules([
    ...frameworkDeclarations(),
    ...parseModules(APPLICATION_MODULES, APPLICATION_ADDRESSES),
  ]);
  return assembled;
}

export function assembleText(text: string, addresses: NamedAddresses): AssembledModule[] {
  return assembleModules(parseModules(text, addresses), frameworkDeclarations());
}
