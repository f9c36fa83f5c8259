/**
 * The state that user actions share, and the calls that they return. Random numbers are drawn before anything is
 * encoded, so a replayed history draws the same numbers without encoding.
 */

import type { ExecutionStatus } from '../../../src/move/transactions/transaction-info.ts';
import { CAFE_HEX } from '../../../src/sample/publishers.ts';
import type { Random } from '../../../src/sample/random.ts';
import type { Call as SignedCall } from '../../../src/sample/submission.ts';
import { type Accounts, FAUCET_ACCOUNT, FIRST_ORDINARY_ACCOUNT } from './accounts.ts';
import type { Asset } from './assets.ts';
import type { Effects } from './effects.ts';

export const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';
/** A coin that a user issues. */
export const MOON_COIN = `${CAFE_HEX}::moon_coin::MoonCoin`;

/** An account with fewer octas does not send. */
const MIN_SENDER_OCTAS = 10_000_000n;
/** Attempts to pick a sender before falling back to the faucet. */
const SENDER_DRAWS = 4;

export interface World {
  readonly seed: bigint;
  readonly random: Random;
  readonly effects: Effects;
  readonly accounts: Accounts;
  /** The native coin, in which fees are paid. */
  readonly native: Asset;
  readonly moon: Asset;
  /** A fungible asset that never was a coin. */
  readonly gold: Asset;
}

/** A user's call, whose effects on the model are already applied. */
export interface Call extends SignedCall {
  /** Success when absent. */
  readonly status?: ExecutionStatus;
}

/** One kind of user action. */
export type Action = (world: World) => Call;

/** Picks an account that can sign and pay, usually one of a few busy ones. */
export function pickSender({ random, accounts, native }: World): number {
  const ordinary = accounts.signers - FIRST_ORDINARY_ACCOUNT;
  for (let draw = 0; draw < SENDER_DRAWS && ordinary > 0; draw += 1) {
    const sender = FIRST_ORDINARY_ACCOUNT + random.skewed(ordinary);
    if (native.balance(sender) >= MIN_SENDER_OCTAS) return sender;
  }
  return FAUCET_ACCOUNT;
}

/** Picks an account below `limit` that can receive; seven in ten are busy ones. */
export function pickReceiver({ random, accounts }: World, limit: number): number {
  const known = Math.min(accounts.count, limit) - FIRST_ORDINARY_ACCOUNT;
  if (known <= 0) return FAUCET_ACCOUNT;
  const busy = random.perMille(700);
  return FIRST_ORDINARY_ACCOUNT + (busy ? random.skewed(known) : random.below(known));
}
