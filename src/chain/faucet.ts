/** Funds accounts by transactions that an account with coins signs. */
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { EntryFunction } from '../move/transactions/executable.ts';
import { ADDRESS_ONE, type Address } from '../move/types/address.ts';
import type { Ed25519Key } from './genesis/genesis-keys.ts';
import type { LocalChain } from './local-chain.ts';
import type { PendingTransaction } from './pending-transaction.ts';
import { signedCall } from './signed-call.ts';

/** Maximum gas units of a transfer, to one account or to several. */
const MAX_GAS_AMOUNT = 500_000n;
/** In octas: the minimum of the gas schedule. */
const GAS_UNIT_PRICE = 100n;

export interface Funder {
  readonly address: Address;
  readonly key: Ed25519Key;
  /** Gives the funder coins unless it has some; called before its first transfer. */
  readonly prepare?: () => Promise<void>;
}

export class Faucet {
  readonly #chain: LocalChain;
  readonly #chainId: number;
  readonly funder: Funder;
  #prepared: Promise<void> | undefined;

  constructor(chain: LocalChain, chainId: number, funder: Funder) {
    this.#chain = chain;
    this.#chainId = chainId;
    this.funder = funder;
  }

  hasAccount(account: Address): Promise<boolean> {
    return this.#chain.hasAccount(account);
  }

  /**
   * Sends any amount; the account is created if it does not exist. The first accounts of a network are funded here too,
   * so limits of requests are checked in src/node/localnet/faucet-server.ts.
   * @param octas u64
   * @throws SubmitError
   */
  fund(receiver: Address, octas: bigint): Promise<PendingTransaction> {
    return this.#send({
      ...TRANSFER,
      args: [encodeBcs((to) => to.address(receiver)), encodeBcs((to) => to.u64(octas))],
    });
  }

  /** Sends several accounts the same amount in one transaction. */
  fundAll(receivers: readonly Address[], octas: bigint): Promise<PendingTransaction> {
    return this.#send({
      ...TRANSFER,
      function: 'batch_transfer',
      args: [
        encodeBcs((to) => to.vector(receivers, (inner, address) => inner.address(address))),
        encodeBcs((to) => to.vector(receivers, (inner) => inner.u64(octas))),
      ],
    });
  }

  async #send(call: EntryFunction): Promise<PendingTransaction> {
    const { address: sender, key, prepare } = this.funder;
    this.#prepared ??= prepare?.().catch((cause: unknown) => {
      this.#prepared = undefined;
      throw cause;
    });
    await this.#prepared;
    const limits = { maxGasAmount: MAX_GAS_AMOUNT, gasUnitPrice: GAS_UNIT_PRICE };
    return await this.#chain.submitNext(sender, (replay, expirationTimestampSecs) =>
      signedCall({
        ...{ sender, key, call, replay, expirationTimestampSecs },
        ...{ chainId: this.#chainId, ...limits },
      }),
    );
  }
}

const TRANSFER: EntryFunction = {
  kind: 'entryFunction',
  module: { address: ADDRESS_ONE, name: 'aptos_account' },
  function: 'transfer',
  typeArguments: [],
  args: [],
};
