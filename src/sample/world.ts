/** The state that the scenarios of a sample ledger draw from. */
import { type Address, addressBytes } from '../move/types/address.ts';
import { pairedMetadataAddress } from '../move/types/derived-address.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import {
  CREATOR_ACCOUNTS,
  FIRST_CREATOR_ACCOUNT,
  FIRST_ORDINARY_ACCOUNT,
  type SampleAccounts,
} from './accounts.ts';
import { GOLD } from './applications.ts';
import { CAFE_HEX } from './publishers.ts';
import type { Random } from './random.ts';
import type { Call } from './submission.ts';

export const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';
/** A coin that a user issues. */
export const MOON_COIN = `${CAFE_HEX}::moon_coin::MoonCoin`;

/** The addresses of the assets' metadata, as bytes. */
export const ASSETS = {
  native: addressBytes(pairedMetadataAddress(parseStructTag(NATIVE_COIN))),
  moon: addressBytes(pairedMetadataAddress(parseStructTag(MOON_COIN))),
  gold: addressBytes(GOLD),
} as const;

export interface World {
  readonly random: Random;
  readonly accounts: SampleAccounts;
  /** Number of accounts that may receive something now, including the special ones. */
  readonly known: number;
  /** The multisig account of the first two creators. */
  readonly multisig: Address;
  /** How often the package of BEEF was published. */
  readonly publications: number;
}

/** A scenario: calls that follow one another. */
export type Action = (world: World) => readonly Call[];

/** An account that signs: mostly one of a few busy ones. */
export function pickSender({ random, accounts }: World): number {
  return FIRST_ORDINARY_ACCOUNT + random.skewed(accounts.signers);
}

/** An account that can receive. Seven draws in ten prefer busy accounts. */
export function pickReceiver({ random, known }: World): number {
  const ordinary = known - FIRST_ORDINARY_ACCOUNT;
  return (
    FIRST_ORDINARY_ACCOUNT +
    (random.perMille(700) ? random.skewed(ordinary) : random.below(ordinary))
  );
}

export function pickCreator({ random }: World): number {
  return FIRST_CREATOR_ACCOUNT + random.below(CREATOR_ACCOUNTS);
}

/** 32 bytes. */
export function addressOf({ accounts }: World, account: number): Buffer {
  return addressBytes(accounts.address(account));
}
