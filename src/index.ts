/**
 * Daybook as a library: everything of `daybook/encoding`, and `startNode`, which runs a whole node inside the caller's
 * process.
 */
import type { EmbeddedNode, EmbeddedNodeOptions } from './node/embedded.ts';

export * from './encoding.ts';
export type { EmbeddedNode, EmbeddedNodeOptions } from './node/embedded.ts';

/**
 * A real node for tests, on a free port, by default with the small sample ledger. The first start generates that
 * ledger (about two seconds); later ones find it in the temporary folder and take a fraction of a second.
 * @throws NodeError as `daybook serve` does
 */
export async function startNode(options: EmbeddedNodeOptions = {}): Promise<EmbeddedNode> {
  // Loaded here: encoding alone needs no HTTP server and no store.
  const { startEmbeddedNode } = await import('./node/embedded.ts');
  return startEmbeddedNode(options);
}
