/** The chain of this process: `daybook localnet` has one, and `daybook serve` of a ledger that a local network made. */
import type { Logger } from 'pino';
import type { Submissions } from '../api/submissions.ts';
import type { ChainWatch } from '../chain/chain-watch.ts';
import type { Impersonation } from '../chain/impersonation.ts';
import { type ChainMemory, LocalChain, type Mining } from '../chain/local-chain.ts';
import { signedBytes } from '../chain/pending-transaction.ts';
import type { OpenSource } from '../state/source.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { commitRetryOptions } from './commit-retry.ts';
import type { StopList } from './shutdown.ts';

interface OpenChainOptions {
  readonly mining: Mining;
  readonly impersonation: Impersonation;
  /** Like the next one, absent unless the ledger is on top of a fork. */
  readonly openSource?: OpenSource | undefined;
  readonly firstVersion?: bigint | undefined;
  readonly memory?: ChainMemory | undefined;
  readonly isPruned?: boolean;
  readonly watch?: ChainWatch | undefined;
}

/** Continues after the head of a local network's ledger; stopping it is added to the list. */
export async function openLocalChain(
  writer: LedgerWriter,
  options: OpenChainOptions,
  logger: Logger,
  stopList: StopList,
): Promise<LocalChain> {
  const { firstVersion } = options;
  const isNew = writer.head!.version + 1n === (firstVersion ?? 1n);
  const ended = new AbortController();
  const chain = await LocalChain.open(writer, {
    ...options,
    ...commitRetryOptions('the chain', logger, ended.signal),
    onFault: (err, { hash }) =>
      logger.error({ err, hash: hash.toString('hex') }, 'a transaction cannot be executed here'),
  });
  stopList.add('the chain', () => chain.stop());
  stopList.add('waiting for the disk', () => ended.abort());
  // The first block of a chain begins its first epoch.
  if (isNew && firstVersion === undefined) await chain.mine();
  return chain;
}

/** The chain as the interface uses it. */
export function submissionsTo(chain: LocalChain): Submissions {
  return {
    submit: async (signed) => {
      const pending = await chain.submit(signed);
      return { hash: pending.hash, signed: signedBytes(pending) };
    },
    submitAll: async (signed) => {
      const results = await chain.submitAll(signed);
      return results.map((one) => (one instanceof Error ? one : undefined));
    },
    changed: () => chain.changed(),
    transactionByHash: async (hash) => {
      const pending = chain.pending(hash);
      return pending && { version: undefined, signed: signedBytes(pending) };
    },
  };
}
