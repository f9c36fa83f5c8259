/** What every view gets. */
export interface ViewProps {
  /** A parameter of the route, trimmed; empty when it is not there. */
  readonly parameter: (name: string) => string;
  /** The version of the ledger that is looked at; undefined for the newest. */
  readonly version: string | undefined;
}
