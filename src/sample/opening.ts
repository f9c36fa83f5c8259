/** How a sample ledger begins: its accounts get coins, and its applications are published and set up. */

import { CORE_RESOURCES, mintKey } from '../chain/genesis/genesis-keys.ts';
import { signedCall } from '../chain/signed-call.ts';
import type { EntryFunction } from '../move/transactions/executable.ts';
import { addressBytes } from '../move/types/address.ts';
import {
  CAFE_ACCOUNT,
  CREATOR_ACCOUNTS,
  FIRST_CREATOR_ACCOUNT,
  FIRST_ORDINARY_ACCOUNT,
  type SampleAccounts,
} from './accounts.ts';
import { applicationModules } from './applications.ts';
import { callsOf } from './calls.ts';
import { publication } from './packages.ts';
import { CAFE_HEX } from './publishers.ts';
import { COLLECTION, TOKEN_URI } from './scenarios.ts';
import { GENERATOR_VERSION, type SampleSettings } from './settings.ts';
import type { Call } from './submission.ts';
import { ASSETS, MOON_COIN, NATIVE_COIN } from './world.ts';

/** Initial balances of an account, in smallest units. */
const SPECIAL_OCTAS = 1_000_000_000_000_000n;
const ORDINARY_OCTAS = 1_000_000_000_000n;
const MOON_UNITS = 1_000_000_000n;
const ISSUED_MOON_UNITS = 1_000_000_000_000_000_000n;
/** Number of accounts that are paid by one transaction. */
const BATCH = 50;

const METADATA = '0x1::fungible_asset::Metadata';
const fund = callsOf('0x1::aptos_account::batch_transfer');
const give = callsOf('0x1::aptos_account::batch_transfer_coins', [MOON_COIN]);
const describe = callsOf(`${CAFE_HEX}::sample::describe`);
const issueMoon = callsOf('0x1::managed_coin::initialize', [MOON_COIN]);
const registerMoon = callsOf('0x1::managed_coin::register', [MOON_COIN]);
const mintMoon = callsOf('0x1::managed_coin::mint', [MOON_COIN]);
const giveGold = callsOf('0x1::primary_fungible_store::transfer', [METADATA]);
const openBook = callsOf(`${CAFE_HEX}::market::open`, [NATIVE_COIN, MOON_COIN]);
const createMultisig = callsOf('0x1::multisig_account::create_with_owners');
const createCollection = callsOf('0x4::aptos_token::create_collection');
const createFirstCollection = callsOf('0x3::token::create_collection_script');

/** Payments that the core resources account makes. */
export function fundings(accounts: SampleAccounts): EntryFunction[] {
  const special = Array.from({ length: FIRST_ORDINARY_ACCOUNT }, (_, index) => index);
  return [
    toEach(accounts, special, SPECIAL_OCTAS),
    ...batches(accounts).map((batch) => toEach(accounts, batch, ORDINARY_OCTAS)),
  ];
}

function toEach(
  accounts: SampleAccounts,
  receivers: readonly number[],
  units: bigint,
  call = fund,
): EntryFunction {
  return call(
    (to) => to.vector(receivers, (inner, account) => inner.address(accounts.address(account))),
    (to) => to.vector(receivers, (inner) => inner.u64(units)),
  );
}

/** The ordinary accounts that sign, in batches. */
function batches({ signers }: SampleAccounts): number[][] {
  const all = Array.from({ length: signers }, (_, index) => FIRST_ORDINARY_ACCOUNT + index);
  return Array.from({ length: Math.ceil(signers / BATCH) }, (_, index) =>
    all.slice(index * BATCH, (index + 1) * BATCH),
  );
}

/** BCS of a SignedTransaction of the core resources account. */
export function fundingTransaction(
  call: EntryFunction,
  sequenceNumber: bigint,
  facts: Omit<Parameters<typeof signedCall>[0], 'sender' | 'key' | 'call' | 'replay'>,
): Buffer {
  const sender = CORE_RESOURCES;
  return signedCall({ ...facts, sender, key: mintKey(), call, replay: { sequenceNumber } });
}

/** The calls that set up the ledger. */
export function openingCalls(
  { seed, accounts: ordinary }: SampleSettings,
  accounts: SampleAccounts,
): Call[] {
  const of = (sender: number, ...calls: readonly EntryFunction[]): Call[] =>
    calls.map((call) => ({ sender, payload: () => call }));
  const creators = Array.from(
    { length: CREATOR_ACCOUNTS },
    (_, index) => FIRST_CREATOR_ACCOUNT + index,
  );
  return [
    ...of(
      CAFE_ACCOUNT,
      publication('Applications', applicationModules()),
      describe(GENERATOR_VERSION, seed, ordinary),
      issueMoon(
        'Moon Coin',
        'MOON',
        (to) => to.u8(6),
        (to) => to.bool(true),
      ),
      registerMoon(),
      mintMoon(addressBytes(accounts.address(CAFE_ACCOUNT)), ISSUED_MOON_UNITS),
      ...batches(accounts).map((batch) => toEach(accounts, batch, MOON_UNITS, give)),
      ...creators.map((creator) =>
        giveGold(ASSETS.gold, addressBytes(accounts.address(creator)), MOON_UNITS),
      ),
      openBook(),
    ),
    ...of(
      FIRST_CREATOR_ACCOUNT,
      createMultisig(
        (to) =>
          to.vector([FIRST_CREATOR_ACCOUNT + 1], (inner, account) =>
            inner.address(accounts.address(account)),
          ),
        1,
        Buffer.of(0),
        Buffer.of(0),
      ),
    ),
    ...creators.flatMap((creator) => of(creator, ...collections())),
  ];
}

/** One collection of each token standard. */
function collections(): EntryFunction[] {
  const yes = Buffer.of(1);
  const [most, description] = [1_000_000_000, 'Folded from old ledgers'];
  return [
    createCollection(
      ...[description, most, COLLECTION, TOKEN_URI],
      ...[yes, yes, yes, yes, yes, yes, yes, yes, yes],
      ...[5, 100],
    ),
    createFirstCollection(COLLECTION, description, TOKEN_URI, 0, Buffer.of(3, 0, 0, 0)),
  ];
}
