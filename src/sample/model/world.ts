/**
 * The state that user actions share, and the calls that they make. Random numbers are drawn before anything is
 * encoded, so a replayed history draws the same numbers without encoding.
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { EntryFunction } from '../../move/transactions/executable.ts';
import type { TransactionPayload } from '../../move/transactions/payload.ts';
import type { ExecutionStatus } from '../../move/transactions/transaction-info.ts';
import { parseStructTag, parseTypeTag } from '../../move/types/type-parser.ts';
import { type Accounts, FAUCET_ACCOUNT, FIRST_ORDINARY_ACCOUNT } from './accounts.ts';
import type { Asset } from './assets.ts';
import type { Effects } from './effects.ts';
import type { SampleKey } from './keys.ts';
import { CAFE_HEX } from './publishers.ts';
import type { Random } from './random.ts';
import type { ValueWriter } from './slots.ts';

export const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';
export const MOON_COIN = `${CAFE_HEX}::moon_coin::MoonCoin`;

/** An account with fewer octas does not send. */
const MIN_SENDER_OCTAS = 10_000_000n;
/** Attempts to pick a sender before the faucet is used. */
const SENDER_DRAWS = 4;

export interface World {
  readonly seed: bigint;
  readonly random: Random;
  readonly effects: Effects;
  readonly accounts: Accounts;
  /** The native coin, which fees are paid in. */
  readonly native: Asset;
  readonly moon: Asset;
  /** A fungible asset that never was a coin. */
  readonly gold: Asset;
}

/** A user's call, after its effects on the model. */
export interface Call {
  /** Account index. */
  readonly sender: number;
  /** Made only when the transaction is written. */
  readonly payload: () => TransactionPayload;
  /** How it is signed; `single` when absent. */
  readonly form?: CallForm;
  /** Signs too (`multiAgent`), or pays (`feePayer`). */
  readonly second?: number;
  /** Signs instead of the sender's newest key. */
  readonly signingKey?: SampleKey;
  /** Success when absent. */
  readonly status?: ExecutionStatus;
}

type CallForm = 'single' | 'singleSender' | 'multiAgent' | 'feePayer' | 'orderless';

/** One kind of thing that users do. */
export type Action = (world: World) => Call;

/** An account that can sign and pay: mostly one of a few busy ones. */
export function pickSender({ random, accounts, native }: World): number {
  const ordinary = accounts.signers - FIRST_ORDINARY_ACCOUNT;
  for (let draw = 0; draw < SENDER_DRAWS && ordinary > 0; draw += 1) {
    const sender = FIRST_ORDINARY_ACCOUNT + random.skewed(ordinary);
    if (native.balance(sender) >= MIN_SENDER_OCTAS) return sender;
  }
  return FAUCET_ACCOUNT;
}

/** An account that can receive, among those below `limit`; seven in ten are busy ones. */
export function pickReceiver({ random, accounts }: World, limit: number): number {
  const known = Math.min(accounts.count, limit) - FIRST_ORDINARY_ACCOUNT;
  if (known <= 0) return FAUCET_ACCOUNT;
  const busy = random.perMille(700);
  return FIRST_ORDINARY_ACCOUNT + (busy ? random.skewed(known) : random.below(known));
}

/** An argument of a call: numbers are u64s, bytes are written as they are, such as an address. */
export type Argument = number | bigint | string | Uint8Array | ValueWriter;

export type FunctionCall = (...args: readonly Argument[]) => EntryFunction;

/** Calls of an entry function, e.g. `0x1::coin::transfer`. */
export function callsOf(name: string, typeArguments: readonly string[] = []): FunctionCall {
  // Function names have the form of struct tags.
  const { address, module, name: functionName } = parseStructTag(name);
  const target = {
    kind: 'entryFunction',
    module: { address, name: module },
    function: functionName,
    typeArguments: typeArguments.map(parseTypeTag),
  } as const;
  return (...args) => ({ ...target, args: args.map(encodeArgument) });
}

function encodeArgument(argument: Argument): Buffer {
  return encodeBcs((writer) => {
    if (typeof argument === 'function') argument(writer);
    else if (typeof argument === 'string') writer.string(argument);
    else if (typeof argument === 'object') writer.fixed(argument);
    else writer.u64(argument);
  });
}
