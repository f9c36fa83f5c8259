/**
 * Daybook as a library: everything in `daybook/encoding`; `startNode`, which runs a whole node inside the caller's
 * process; and `startLocalnet`, which runs a local chain there.
 */
import type { Localnet } from './node/localnet/localnet.ts';
import type { LocalnetOptions } from './node/localnet/start-localnet.ts';
import type {
  EmbeddedNode,
  EmbeddedNodeOptions,
  ForkedNode,
  ForkedNodeOptions,
} from './node/serve/embedded.ts';

export type { GasReportRow } from './chain/gas-report.ts';
export * from './encoding.ts';
export { OverrideError } from './ledger/overrides/override-error.ts';
export type {
  AppendedEvent,
  OverrideSnapshot,
  Overrides as ForkOverrides,
} from './ledger/overrides/overrides.ts';
export type { LocalAccount } from './node/localnet/branch.ts';
export type { Localnet } from './node/localnet/localnet.ts';
export type { LocalnetOptions } from './node/localnet/start-localnet.ts';
export type {
  EmbeddedNode,
  EmbeddedNodeOptions,
  ForkedNode,
  ForkedNodeOptions,
  PackedFork,
} from './node/serve/embedded.ts';
export { ViewCallError, type ViewFunctionCall } from './node/serve/view-call.ts';

/**
 * A real node for tests, by default on a free port and with the small sample ledger, which is part of the package.
 * Other samples are generated at their first start and reused from the temporary folder later.
 * @throws NodeError as `daybook serve` does
 */
export function startNode(options: ForkedNodeOptions): Promise<ForkedNode>;
export function startNode(options?: EmbeddedNodeOptions): Promise<EmbeddedNode>;
export async function startNode(options: EmbeddedNodeOptions = {}): Promise<EmbeddedNode> {
  // Imported on demand, because encoding alone needs no HTTP server and no store.
  const { startEmbeddedNode } = await import('./node/serve/embedded.ts');
  return startEmbeddedNode(options);
}

/**
 * A chain for tests on free ports, with funded accounts, the API and a faucet. Any number of them can run in one
 * process, and `stop` leaves nothing behind.
 * @throws NodeError as `daybook localnet` does
 */
export async function startLocalnet(options: LocalnetOptions = {}): Promise<Localnet> {
  // Imported on demand for the same reason.
  const localnet = await import('./node/localnet/start-localnet.ts');
  return localnet.startLocalnet(options);
}
