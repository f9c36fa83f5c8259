/** The chain of this process, as the interface uses it. */
import type { Submissions } from '../../api/submissions.ts';
import type { LocalChain } from '../../chain/local-chain.ts';
import { signedBytes } from '../../chain/pending-transaction.ts';

export function chainSubmissions(chain: LocalChain): Submissions {
  return {
    submit: async (signed) => {
      const pending = await chain.submit(signed);
      return { hash: pending.hash, signed: signedBytes(pending) };
    },
    submitAll: async (signed) => {
      const taken = await chain.submitAll(signed);
      return taken.map((one) => (one instanceof Error ? one : undefined));
    },
    changed: () => chain.changed(),
    transactionByHash: async (hash) => {
      const pending = chain.pending(hash);
      return pending && { version: undefined, signed: signedBytes(pending) };
    },
  };
}
