/** What a node is besides a plain one. The document tells the page, which says it beside the state of the ledger. */
export interface NodeFacts {
  /** Whether the page may control it: a local network. */
  readonly isControlled?: boolean;
  /** The ledger of another node up to a version. */
  readonly fork?: { readonly host: string; readonly version: string } | undefined;
}
