/** What users do, and how often: the mix of the sample ledger's transactions. */

import type { Action, Call, World } from '../world.ts';
import type { Gallery } from './gallery.ts';
import type { Journals } from './journal.ts';
import type { Market } from './market.ts';
import type { Multisig } from './multisig.ts';
import type { Clockmaker } from './publishing.ts';
import { fail, payTogether, showArguments, transferByScript } from './showcase.ts';
import type { Studio } from './studio.ts';
import type { Ticker } from './ticker.ts';
import {
  createAccounts,
  makeConcurrent,
  migrateCoins,
  rotateKey,
  transferGold,
  transferMoon,
  transferNative,
  transferNativeAsset,
} from './transfers.ts';

/** The applications that keep something between transactions. */
export interface Applications {
  readonly journals: Journals;
  readonly ticker: Ticker;
  readonly market: Market;
  readonly gallery: Gallery;
  readonly studio: Studio;
  readonly multisig: Multisig;
  readonly clockmaker: Clockmaker;
}

/** Transactions in a thousand that go to the one hot stream of `cafe::ticker`. */
export const TICKS_PER_MILLE = 50;
const PER_MILLE = 1000;

/** Draws what the next user transaction is. */
export class TransactionMix {
  readonly #actions: readonly Action[];

  constructor(applications: Applications) {
    const { journals, ticker, market, gallery, studio, multisig, clockmaker } = applications;
    const shares: readonly (readonly [perMille: number, action: Action])[] = [
      [180, journals.write],
      [TICKS_PER_MILLE, ticker.tick],
      [100, market.trade],
      [30, gallery.act],
      [30, studio.act],
      [6, multisig.act],
      [2, clockmaker.publish],
      [130, transferNativeAsset],
      [50, transferMoon],
      [50, transferGold],
      [20, createAccounts],
      [20, showArguments],
      [10, fail],
      [8, payTogether],
      [6, migrateCoins],
      [5, transferByScript],
      [3, makeConcurrent],
      [2, rotateKey],
    ];
    const listed = shares.reduce((sum, [perMille]) => sum + perMille, 0);
    // All that is left are plain transfers of the native coin.
    this.#actions = [...shares, [PER_MILLE - listed, transferNative] as const].flatMap(
      ([perMille, action]) => new Array<Action>(perMille).fill(action),
    );
  }

  /** Does one thing to the model. */
  next(world: World): Call {
    return world.random.pick(this.#actions)(world);
  }
}
