/** Special properties of a node. The document passes them to the page, which shows them beside the ledger's state. */
export interface NodeFacts {
  /** Whether the page may control the node, which is then a local network. */
  readonly isControlled?: boolean;
  /** For a fork: the node whose ledger it has, up to a version. */
  readonly fork?: { readonly host: string; readonly version: string } | undefined;
}
