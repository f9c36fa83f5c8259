/** What users do on a sample ledger, and how often. The effects come from executing the code that they call. */
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { MultisigPayload } from '../move/transactions/executable.ts';
import type { TransactionPayload } from '../move/transactions/payload.ts';
import { BEEF_ACCOUNT, CAFE_ACCOUNT, FIRST_CREATOR_ACCOUNT, SPONSOR_ACCOUNT } from './accounts.ts';
import { CLOCK_MAX_HANDS, clockModule } from './applications.ts';
import { writeBinary } from './assembler/binary.ts';
import { callsOf } from './calls.ts';
import { publication } from './packages.ts';
import { CAFE_HEX } from './publishers.ts';
import { SHOWN_FUNCTIONS } from './showcase.ts';
import type { Call } from './submission.ts';
import {
  type Action,
  ASSETS,
  addressOf,
  MOON_COIN,
  NATIVE_COIN,
  pickCreator,
  pickReceiver,
  pickSender,
  type World,
} from './world.ts';

/** Maximum amounts of one transfer and of one payment, in smallest units. */
const MAX_TRANSFER_UNITS = 1_000_000;
const MAX_PAYMENT_OCTAS = 1_000;
/** Gas limit of a call that never ends. */
const ENDLESS_GAS = 100n;

const METADATA = '0x1::fungible_asset::Metadata';
const transfer = callsOf('0x1::aptos_account::transfer');
const batchTransfer = callsOf('0x1::aptos_account::batch_transfer');
const transferCoin = callsOf('0x1::coin::transfer', [NATIVE_COIN]);
const transferMoonCoin = callsOf('0x1::aptos_account::transfer_coins', [MOON_COIN]);
const transferAsset = callsOf('0x1::primary_fungible_store::transfer', [METADATA]);
const rotateKeyTo = callsOf('0x1::account::rotate_authentication_key_call');
const propose = callsOf('0x1::multisig_account::create_transaction');
const mintToken = callsOf('0x4::aptos_token::mint');
const createFirstToken = callsOf('0x3::token::create_token_script');
const writeEntry = callsOf(`${CAFE_HEX}::journal::write`);
const tick = callsOf(`${CAFE_HEX}::ticker::tick`);
const place = callsOf(`${CAFE_HEX}::market::place`, [NATIVE_COIN, MOON_COIN]);
const close = callsOf(`${CAFE_HEX}::market::close`, [NATIVE_COIN, MOON_COIN]);
const settle = callsOf(`${CAFE_HEX}::settlement::settle`, [NATIVE_COIN, MOON_COIN]);
const paint = callsOf(`${CAFE_HEX}::gallery::paint`);
const visit = callsOf(`${CAFE_HEX}::gallery::visit`);
const together = callsOf(`${CAFE_HEX}::showcase::together`);
const endless = callsOf(`${CAFE_HEX}::showcase::endless`);
const overflow = callsOf(`${CAFE_HEX}::showcase::overflow`);

const WORDS = (
  'ledger morning harbour quiet bread river copper letter garden north ' +
  'über café 東京 señal window late paper signal winter orange'
).split(' ');
const MAX_WORDS = 12;
/** Number of trading pairs on the board. */
const PAIRS = 64;
const FIRST_PRICE = 1_000_000;
const MAX_CHANGE = 5_000;
const NOTES = ['good till cancelled', 'fill or kill', 'all or none'];
const FIRST_YEAR = 1500;
const YEARS = 526;

/** Name of the collections that each creator has from the start. */
export const COLLECTION = 'Paper boats';
export const TOKEN_URI = 'https://example.com/boat.json';

function words({ random }: World, maxWords: number): string {
  return Array.from({ length: random.between(1, maxWords) }, () => random.pick(WORDS)).join(' ');
}

function amount({ random }: World, max: number): bigint {
  return BigInt(random.between(1, max));
}

const transferNative: Action = (world) => {
  const args = [addressOf(world, pickReceiver(world)), amount(world, MAX_TRANSFER_UNITS)];
  return [{ sender: pickSender(world), payload: () => transfer(...args) }];
};

const transferAsCoin: Action = (world) => {
  const args = [addressOf(world, pickReceiver(world)), amount(world, MAX_TRANSFER_UNITS)];
  return [{ sender: pickSender(world), payload: () => transferCoin(...args) }];
};

/** Works whether the accounts hold the coin in a coin store or in a fungible store. */
const transferMoon: Action = (world) => {
  const args = [addressOf(world, pickReceiver(world)), amount(world, MAX_TRANSFER_UNITS)];
  return [{ sender: pickSender(world), payload: () => transferMoonCoin(...args) }];
};

/** Fails if the sender has no gold. */
const transferGold: Action = (world) => {
  const sender = world.random.perMille(900) ? CAFE_ACCOUNT : pickCreator(world);
  const args = [
    ASSETS.gold,
    addressOf(world, pickReceiver(world)),
    amount(world, MAX_TRANSFER_UNITS),
  ];
  return [{ sender, payload: () => transferAsset(...args) }];
};

const payMany: Action = (world) => {
  const receivers = Array.from({ length: world.random.between(2, 6) }, () =>
    addressOf(world, pickReceiver(world)),
  );
  const octas = amount(world, MAX_TRANSFER_UNITS);
  const payload = () =>
    batchTransfer(
      (to) => to.vector(receivers, (inner, receiver) => inner.fixed(receiver)),
      (to) => to.vector(receivers, (inner) => inner.u64(octas)),
    );
  return [{ sender: pickSender(world), payload }];
};

/** One text in a hundred is empty, and its call fails. */
const write: Action = (world) => {
  const text = world.random.perMille(10) ? '' : words(world, MAX_WORDS);
  return [{ sender: pickSender(world), payload: () => writeEntry(text) }];
};

const quote: Action = ({ random }) => {
  const pair = random.skewed(PAIRS);
  const change = random.between(-MAX_CHANGE, MAX_CHANGE);
  const price = FIRST_PRICE + pair * MAX_CHANGE + change;
  const payload = () => tick(pair, price, (to) => to.signed(BigInt(change), 64));
  return [{ sender: CAFE_ACCOUNT, payload }];
};

const trade: Action = (world) => {
  const { random } = world;
  const sender = pickSender(world);
  if (random.perMille(450)) {
    const end = random.perMille(800) ? close : settle;
    return [{ sender, payload: () => end() }];
  }
  const [sells, units, scale] = [random.perMille(500), random.between(1, 1e9), random.below(9)];
  const size = random.between(1, 10_000);
  const note = random.perMille(300) ? random.pick(NOTES) : undefined;
  const payload = () =>
    place(
      (to) => to.bool(sells),
      units,
      (to) => to.u8(scale),
      size,
      (to) => to.option(note, (inner, text) => inner.string(text)),
    );
  return [{ sender, payload }];
};

/** One account paints and others visit it. A new painting replaces the painter's older one. */
const exhibit: Action = (world) => {
  const { random } = world;
  const painter = pickSender(world);
  const [title, year] = [words(world, 3), FIRST_YEAR + random.below(YEARS)];
  const visitors = Array.from({ length: random.below(3) }, () => pickSender(world));
  return [
    { sender: painter, payload: () => paint(title, (to) => to.u16(year)) },
    ...visitors.map((sender) => ({ sender, payload: () => visit(addressOf(world, painter)) })),
  ];
};

/** Uses the ways to sign that an account with one key has. */
const showArguments: Action = (world) => {
  const { random } = world;
  const sender = pickSender(world);
  const { call, draw } = random.pick(SHOWN_FUNCTIONS);
  const args = draw(world);
  const payload = (): TransactionPayload => call(...args);
  const form = random.pick(['single', 'single', 'singleSender', 'orderless', 'feePayer'] as const);
  return [{ sender, payload, form, ...(form === 'feePayer' && { second: SPONSOR_ACCOUNT }) }];
};

/** Two accounts sign, and the second gives the first some coins. */
const payTogether: Action = (world) => {
  const octas = amount(world, MAX_PAYMENT_OCTAS);
  const [sender, second] = [pickSender(world), pickCreator(world)];
  return [{ sender, second, form: 'multiAgent', payload: () => together(octas) }];
};

/** A script with parameters (&signer, address, u64) that only returns. */
const SCRIPT = writeBinary(
  10,
  // Two signatures: an empty one, then (&signer, address, u64).
  { signatures: Buffer.of(0, 3, 0x06, 0x0c, 0x05, 0x03) },
  // No type parameters, parameters of signature 1, no access specifiers, locals of signature 0, one `Ret`.
  Buffer.of(0, 1, 1, 0, 1, 0x02),
);

const runScript: Action = (world) => {
  const value = world.accounts.address(pickReceiver(world));
  const args = [
    { kind: 'address', value },
    { kind: 'u64', value: amount(world, MAX_PAYMENT_OCTAS) },
  ] as const;
  const form = world.random.pick(['single', 'orderless'] as const);
  const payload = () => ({ kind: 'script', code: SCRIPT, typeArguments: [], args }) as const;
  return [{ sender: pickSender(world), form, payload }];
};

/** Fails because of too many coins, an arithmetic error or too little gas. */
const fail: Action = (world) => {
  const sender = pickSender(world);
  const receiver = addressOf(world, pickReceiver(world));
  return [
    world.random.pick<Call>([
      { sender, payload: () => transfer(receiver, 10n ** 18n) },
      { sender, payload: () => overflow(1) },
      { sender, payload: () => endless(), maxGasAmount: ENDLESS_GAS },
    ]),
  ];
};

const rotateKey: Action = (world) => {
  const sender = pickSender(world);
  const payload = () => {
    const { authenticationKey } = world.accounts.nextKey(sender);
    return rotateKeyTo((to) => to.bytes(authenticationKey));
  };
  return [{ sender, payload }];
};

/** One owner proposes a payment and executes it: the signature of one of the two owners is enough. */
const spendTogether: Action = (world) => {
  const sender = FIRST_CREATOR_ACCOUNT;
  const payment = transfer(addressOf(world, pickReceiver(world)), amount(world, MAX_PAYMENT_OCTAS));
  const isOnChain = world.random.perMille(500);
  const proposed = MultisigPayload.encode(payment);
  return [
    { sender, payload: () => propose(multisigBytes(world), (to) => to.bytes(proposed)) },
    {
      sender,
      payload: () => ({
        kind: 'multisig',
        multisigAddress: world.multisig,
        // Half of the payments are executed from the payload that is stored on the chain.
        payload: isOnChain ? undefined : payment,
      }),
    },
  ];
};

function multisigBytes({ multisig }: World): Buffer {
  return encodeBcs((to) => to.address(multisig));
}

/** Mints a token of the second standard, or one of the first. */
const mint: Action = (world) => {
  const number = world.random.u32();
  const sender = pickCreator(world);
  const none = Buffer.of(0);
  if (world.random.perMille(700)) {
    const payload = () =>
      mintToken(COLLECTION, words(world, 4), `Boat ${number}`, TOKEN_URI, none, none, none);
    return [{ sender, payload }];
  }
  const payload = () =>
    createFirstToken(
      ...[COLLECTION, `Boat ${number}`, 'A boat of paper', 1, 0, TOKEN_URI],
      ...[addressOf(world, sender), 100, 5, FIRST_MUTABILITY, none, none, none],
    );
  return [{ sender, payload }];
};

/** Five flags, all false. */
const FIRST_MUTABILITY = Buffer.of(5, 0, 0, 0, 0, 0);

/** Publishes the clock of BEEF with one more hand each time, until it has all. */
const publishClock: Action = ({ publications }) => {
  const module = clockModule(Math.min(publications, CLOCK_MAX_HANDS));
  return [{ sender: BEEF_ACCOUNT, payload: () => publication('Clock', [module], 1) }];
};

const SHARES: readonly (readonly [perMille: number, action: Action])[] = [
  [180, write],
  [60, quote],
  [100, trade],
  [30, exhibit],
  [20, mint],
  [6, spendTogether],
  [3, publishClock],
  [90, transferAsCoin],
  [50, transferMoon],
  [50, transferGold],
  [30, payMany],
  [30, showArguments],
  [15, fail],
  [8, payTogether],
  [5, runScript],
  [3, rotateKey],
  [320, transferNative],
];

const ACTIONS = SHARES.flatMap(([perMille, action]) => new Array<Action>(perMille).fill(action));

/** Draws the next scenario and returns its calls. */
export function nextCalls(world: World): readonly Call[] {
  return world.random.pick(ACTIONS)(world);
}
