/** What the API may ask of a ledger. */

export type { Listing } from './accounts/accounts.ts';
export type { ListingRequest } from './accounts/listing.ts';
export type { Asset } from './balances/asset.ts';
export type { EventPageForm } from './events/stream-pages.ts';
export type { BlockAnswer } from './history.ts';
export type { LedgerState, LedgerView } from './ledger-view.ts';
export type { StoredModule as ModuleAnswer } from './modules/stored-module.ts';
export type { LedgerReader } from './open.ts';

/** Bytes that are kept outside of memory: nothing is any more. */
export interface KeptBody {
  read(): Uint8Array | undefined;
  lend(): Uint8Array | undefined;
  leave(): void;
}
