/**
 * Executes Move code for clients, on the recorded chain: bodies of `POST /v1/transactions/simulate` and `/v1/view`, in
 * BCS and in JSON, and scripts. It runs in this process, so that inputs that reach new code are mutated further.
 */

import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import type { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import { formatAddress } from '../../src/move/types/address.ts';
import { fullScript, SMALL_SCRIPT } from '../../test/move/modules/module-samples.ts';
import { writeScript } from '../../test/move/modules/write-module.ts';
import type { Random } from '../../test/random.ts';
import {
  NEWEST_VERSION,
  type ReferenceLedger,
  referenceTransaction,
  serveReferenceChain,
} from '../../test/reference/reference-chain.ts';
import {
  findAccounts,
  type KnownAccount,
  RECEIVER,
  rawBytes,
  rawOf,
  zeroSigned,
} from '../../test/reference/simulation-requests.ts';
import { transferScript } from '../../test/reference/transfer-script.ts';
import { Finding, mutate, type OpenTarget, type Target } from '../target.ts';

const SIMULATE = '/v1/transactions/simulate';
const VIEW = '/v1/view';
const SIGNED_TRANSACTION = 'application/x.aptos.signed_transaction+bcs';
const VIEW_FUNCTION = 'application/x.aptos.view_function+bcs';
const JSON_TYPE = 'application/json';
/** BCS of a single sender without a signature: variant 4 of both authenticators. */
const NO_KEY = Buffer.of(4, 4);
/** One in this many transactions of the chain has its payload simulated again. */
const PAYLOAD_STEP = 7;
const MAX_BODY_BYTES = 64 * 1024;

/** Ways to send an input, selected by its first byte. */
const WAYS = [
  { url: SIMULATE, type: SIGNED_TRANSACTION },
  { url: `${SIMULATE}?estimate_gas_unit_price=true`, type: JSON_TYPE },
  { url: VIEW, type: JSON_TYPE },
  { url: VIEW, type: VIEW_FUNCTION },
  /** The bytes are the code of a script. */
  { url: SIMULATE, type: SIGNED_TRANSACTION, isCode: true },
] as const;

const VIEWS = [
  ['0x1::coin::balance', ['0x1::aptos_coin::AptosCoin'], ['0x1']],
  ['0x1::account::exists_at', [], ['0xb0b']],
  ['0x1::coin::supply', ['0x1::aptos_coin::AptosCoin'], []],
  ['0x1::fungible_asset::name', ['0x1::fungible_asset::Metadata'], ['0xa']],
  ['0x1::primary_fungible_store::balance', ['0x1::object::ObjectCore'], ['0x1', '0xa']],
  ['0x1::stake::get_validator_config', [], ['0x1']],
  ['0x1::code::package_metadata', [], ['0x1']],
  ['0x1::multisig_account::get_next_multisig_account_address', [], ['0x1']],
  ['0x1::features::is_enabled', [], [61]],
  [
    '0x1::voting::get_proposal_state',
    ['0x1::governance_proposal::GovernanceProposal'],
    ['0x1', '0'],
  ],
] as const;

export const callsTarget: Target = {
  name: 'calls',
  about: 'simulated transactions, scripts and calls of view functions, in BCS and JSON',
  isGuided: true,
  open: openCalls,
};

async function openCalls(): Promise<OpenTarget> {
  const ledger = await serveReferenceChain();
  const [account] = await findAccounts(ledger.api);
  return new CallsTarget(ledger, account!);
}

class CallsTarget implements OpenTarget {
  readonly #ledger: ReferenceLedger;
  readonly #account: KnownAccount;
  /** Samples of each way. */
  readonly #samples: readonly (readonly Buffer[])[];
  readonly #payloads: readonly RawTransaction['payload'][];
  readonly #counts: Record<string, number> = {};

  constructor(ledger: ReferenceLedger, account: KnownAccount) {
    this.#ledger = ledger;
    this.#account = account;
    this.#payloads = payloads();
    const raws = this.#payloads.map((payload) => rawOf(account, { payload }));
    const signatures = [NO_KEY, zeroSigned(account)];
    this.#samples = [
      raws.flatMap((raw) => signatures.map((one) => Buffer.concat([rawBytes(raw), one]))),
      raws.flatMap(requestsOf),
      VIEWS.map(([name, types, args]) =>
        Buffer.from(JSON.stringify({ function: name, type_arguments: types, arguments: args })),
      ),
      raws.map((raw) => callIn(rawBytes(raw))),
      [transferScript(), SMALL_SCRIPT, ...[6, 8, 10].map((one) => writeScript(fullScript(one)))],
    ];
  }

  make(random: Random): Buffer {
    const way = random.below(WAYS.length);
    const own = this.#samples[way]!;
    const original = random.pick(own);
    // Most of an input must be valid for anything to execute.
    const how = random.below(3);
    const bytes =
      how === 0
        ? mutate(original, random.pick(own), random)
        : how === 1
          ? replaced(original, random)
          : this.#withOtherArguments(way, original, random);
    return Buffer.concat([Buffer.of(way), bytes.subarray(0, MAX_BODY_BYTES)]);
  }

  /** Replaces arguments of an entry function, if the input has one. */
  #withOtherArguments(way: number, original: Buffer, random: Random): Buffer {
    const isCall = way === 0 || way === 3;
    const payload = random.pick(this.#payloads);
    if (!isCall || payload.kind !== 'entryFunction') return replaced(original, random);
    const args = payload.args.map((one) => {
      if (random.below(2) === 0) return one;
      const other = random.pick(payload.args);
      return random.below(2) === 0 ? other : mutate(one, other, random);
    });
    const raw = rawBytes(rawOf(this.#account, { payload: { ...payload, args } }));
    return way === 0 ? Buffer.concat([raw, NO_KEY]) : callIn(raw);
  }

  async run(input: Buffer): Promise<void> {
    const way = WAYS[(input[0] ?? 0) % WAYS.length]!;
    const bytes = input.subarray(1);
    const isCode = 'isCode' in way;
    const { api, log } = this.#ledger;
    const reply = await api.request({
      method: 'POST',
      url: way.url,
      headers: { 'content-type': way.type },
      body: isCode ? this.#scriptOf(bytes) : bytes,
    });
    const { statusCode: status, body } = reply;
    const isRun = status === 200 && way.url.startsWith(SIMULATE);
    const said = isRun ? (reply.json()[0] as { vm_status: string }).vm_status : String(status);
    const name = isRun ? said.replace(/[^A-Za-z_ ].*/s, '').slice(0, 40) : said;
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
    if (log.errors.length > 0)
      throw new Finding(JSON.stringify(log.errors.splice(0)[0], errorText));
    if (status >= 500) throw new Finding(`status ${status}: ${body.slice(0, 500)}`);
  }

  #scriptOf(code: Buffer): Buffer {
    const args = [
      { kind: 'address', value: RECEIVER },
      { kind: 'u64', value: 1_000n },
    ] as const;
    const payload = { kind: 'script', code, typeArguments: [], args } as const;
    return Buffer.concat([rawBytes(rawOf(this.#account, { payload })), NO_KEY]);
  }

  facts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  async close(): Promise<void> {
    await this.#ledger.close();
  }
}

/** In a raw transaction the call comes after sender, sequence number and the payload's variant. */
const CALL_START = 41;
/** Gas, price, expiration and chain id follow the call. */
const CALL_END = -25;

function callIn(raw: Buffer): Buffer {
  return raw.subarray(CALL_START, CALL_END);
}

/** Replaces up to three bytes, most of them near the end, and keeps the length. Small numbers are instructions. */
function replaced(original: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(original);
  for (let left = random.below(4); left > 0; left -= 1) {
    const back = random.below(random.pick([16, 64, bytes.length]));
    const at = Math.max(0, bytes.length - 1 - back);
    bytes[at] = random.below(random.pick([4, 90, 256]));
  }
  return bytes;
}

/** Payloads of transactions of the chain. */
function payloads(): RawTransaction['payload'][] {
  const found: RawTransaction['payload'][] = [];
  for (let version = 1; version <= NEWEST_VERSION; version += PAYLOAD_STEP) {
    const { transaction } = readOnChainData(new BcsReader(referenceTransaction(version))).data;
    if (transaction.kind === 'user') found.push(transaction.transaction.raw.payload);
  }
  return found;
}

/**
 * The JSON request of an entry function. Arguments of eight bytes are written as u64, all others as hexadecimal bytes.
 */
function requestsOf(raw: RawTransaction): Buffer[] {
  const { payload } = raw;
  if (payload.kind !== 'entryFunction') return [];
  const { module, function: name, args } = payload;
  const request = {
    sender: formatAddress(raw.sender),
    sequence_number: String(raw.sequenceNumber),
    max_gas_amount: String(raw.maxGasAmount),
    gas_unit_price: String(raw.gasUnitPrice),
    expiration_timestamp_secs: String(raw.expirationTimestampSecs),
    payload: {
      type: 'entry_function_payload',
      function: `${formatAddress(module.address)}::${module.name}::${name}`,
      type_arguments: [],
      arguments: args.map((bytes) =>
        bytes.length === 8 ? String(bytes.readBigUInt64LE()) : formatHex(bytes),
      ),
    },
    signature: { type: 'no_account_signature' },
  };
  return [Buffer.from(JSON.stringify(request))];
}

function errorText(_: string, value: unknown): unknown {
  return value instanceof Error ? value.stack : value;
}
