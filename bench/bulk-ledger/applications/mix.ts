/** The mix of the sample ledger's transactions: user actions and their frequency. */
import type { Action, Call, World } from '../model/world.ts';
import { Gallery } from './gallery.ts';
import { Journals } from './journal.ts';
import { Market } from './market.ts';
import { Multisig } from './multisig.ts';
import { Clockmaker } from './publishing.ts';
import { fail, payTogether, showArguments, transferByScript } from './showcase.ts';
import { Studio } from './studio.ts';
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

/**
 * Picks the next user transaction at random and applies it to the model. Applications with state of their own create it
 * in genesis; `ticker` exists already.
 */
export function transactionMix(world: World, ticker: Ticker): () => Call {
  const shares: readonly (readonly [perMille: number, action: Action])[] = [
    [180, new Journals(world).write],
    [50, ticker.tick],
    [100, new Market(world).trade],
    [30, new Gallery(world).act],
    [30, new Studio(world).act],
    [6, new Multisig(world).act],
    [2, new Clockmaker(world).publish],
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
    [298, transferNative],
  ];
  const actions = shares.flatMap(([perMille, action]) => new Array<Action>(perMille).fill(action));
  return () => world.random.pick(actions)(world);
}
