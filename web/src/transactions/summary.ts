/** A one-line summary of a transaction, in pieces that a view renders as links and amounts. */
import type { Payload, Transaction } from '../asking/answers.ts';
import { isObject } from '../asking/exact-json.ts';
import { counted, groupDigits, readU64 } from '../parts/number-text.ts';
import {
  assetOf,
  type Movement,
  movementsOf,
  NATIVE_ASSET,
  netOf,
  shortAddress,
  textAt,
} from './movements.ts';

export type Piece =
  | string
  | { readonly account: string }
  | { readonly asset: string; readonly amount: bigint }
  /** A token with its name; objects of other kinds have no name. */
  | { readonly token: string; readonly name?: string | undefined }
  | { readonly call: string };

/** Maximum number of named parties; more are only counted. */
const MAX_NAMED_PARTIES = 2;
/** Maximum number of named modules. */
const MAX_NAMED_MODULES = 3;

/** `block metadata`, for transactions that are not a user's. */
export function kindText({ type }: Transaction): string {
  return type.replaceAll('_', ' ').replace(' transaction', '');
}

/** The function that a transaction calls, also through a multisig account. */
export function calledFunction({ payload }: Transaction): string | undefined {
  const inner = payload?.['transaction_payload'] as Payload | null | undefined;
  return payload?.function ?? inner?.function;
}

/** A transfer as lists show it: asset, amount, senders and recipients, without the fee. */
export interface Transfer {
  readonly asset: string;
  readonly amount: bigint;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** One transfer for each asset that moved. */
export function transfersOf(transaction: Transaction): Transfer[] {
  const net = netOf(movementsOf(transaction));
  return [...new Set(net.map(({ asset }) => asset))].map((asset) => {
    const given = net.filter((one) => one.asset === asset && one.amount < 0n);
    const got = net.filter((one) => one.asset === asset && one.amount > 0n);
    const sum = (list: readonly Movement[]) => list.reduce((all, one) => all + one.amount, 0n);
    const amount = got.length === 0 ? -sum(given) : sum(got);
    const owners = (list: readonly Movement[]) => list.map(({ owner }) => owner);
    return { asset, amount, from: owners(given), to: owners(got) };
  });
}

function parties(owners: readonly string[]): Piece[] {
  if (owners.length > MAX_NAMED_PARTIES) return [counted(owners.length, 'account')];
  return owners.flatMap((account, at) => [...(at > 0 ? [' and '] : []), { account }]);
}

function transferPieces({ asset, amount, from, to }: Transfer): Piece[] {
  const what = { asset, amount };
  if (from.length === 0) return ['minted ', what, ' for ', ...parties(to)];
  if (to.length === 0) return ['burned ', what, ' of ', ...parties(from)];
  return [what, ' from ', ...parties(from), ' to ', ...parties(to)];
}

/** A swap of one asset for another, with the owner of a market or a pool. */
function swapPieces(transaction: Transaction, transfers: readonly Transfer[]) {
  const sender = shortAddress(transaction.sender ?? '');
  const given = transfers.filter(({ from }) => from.includes(sender));
  const got = transfers.filter(({ to }) => to.includes(sender));
  if (given.length !== 1 || got.length !== 1 || transfers.length !== 2) return undefined;
  const net = netOf(movementsOf(transaction)).filter(({ owner }) => owner === sender);
  const [paid, received] = [given[0]!, got[0]!].map(
    ({ asset }) => net.find((one) => one.asset === asset)!,
  );
  return [
    'swapped ',
    { asset: paid!.asset, amount: -paid!.amount },
    ' for ',
    { asset: received!.asset, amount: received!.amount },
  ];
}

/** A name from a resource of an object that the transaction wrote. */
function nameOf({ changes = [] }: Transaction, object: string | undefined, type: RegExp) {
  if (object === undefined) return undefined;
  const names = changes.flatMap(({ address = '', data }) => {
    if (shortAddress(address) !== shortAddress(object)) return [];
    if (!type.test(textAt(data, 'type') ?? '')) return [];
    return textAt(data, 'data', 'name', 'value') ?? textAt(data, 'data', 'name') ?? [];
  });
  return names.find((name) => name !== '');
}

const TOKEN_TYPE = /^0x4::token::Token(?:Identifiers)?$/;

/** Events of tokens and other objects. */
function objectPieces(transaction: Transaction): Piece[] | undefined {
  const { events = [] } = transaction;
  const is = (name: RegExp) => events.filter(({ type }) => name.test(type));
  const piece = (token: string): Piece => ({ token, name: nameOf(transaction, token, TOKEN_TYPE) });
  const count = (things: readonly unknown[], token: string | undefined, noun: string): Piece => {
    return things.length === 1 && token !== undefined ? piece(token) : counted(things.length, noun);
  };
  const minted = is(/^0x4::collection::Mint(?:Event)?$/);
  const burned = is(/^0x4::collection::Burn(?:Event)?$/);
  const given = is(/^0x1::object::Transfer(?:Event)?$/);
  const legacy = is(/^0x3::token::Mint(?:TokenEvent)?$/);
  if (minted.length > 0) {
    const { data } = minted[0]!;
    const collection = textAt(data, 'collection');
    const name = nameOf(transaction, collection, /^0x4::collection::Collection$/);
    return [
      'minted ',
      count(minted, textAt(data, 'token'), 'token'),
      ...(name === undefined ? [] : [` of the collection “${name}”`]),
    ];
  }
  if (burned.length > 0) {
    return ['burned ', count(burned, textAt(burned[0]!.data, 'token'), 'token')];
  }
  if (legacy.length > 0) {
    const name = textAt(legacy[0]!.data, 'id', 'name');
    return [
      `minted ${legacy.length === 1 && name ? `“${name}”` : counted(legacy.length, 'token')}`,
    ];
  }
  const { data } = given[0] ?? {};
  const [object, from, to] = ['object', 'from', 'to'].map((name) => textAt(data, name));
  if (object === undefined || from === undefined || to === undefined) return undefined;
  if (given.length > 1) return [`gave ${counted(given.length, 'object')}`];
  return [piece(object), ' from ', { account: from }, ' to ', { account: to }];
}

function publishedPieces({ changes = [], payload }: Transaction): Piece[] | undefined {
  const names = changes.flatMap(({ type, data }) => {
    if (type !== 'write_module') return [];
    const abi = data?.['abi'];
    return [isObject(abi) ? String(abi['name']) : 'a module'];
  });
  if (names.length === 0 || payload?.type === 'write_set_payload') return undefined;
  const all = names.slice(0, MAX_NAMED_MODULES).join(', ');
  const rest = names.length > MAX_NAMED_MODULES ? ', …' : '';
  return [`published ${counted(names.length, 'module')}: ${all}${rest}`];
}

/** Why a transaction failed, without the address of the code. */
export function failureText(status: string): string {
  const [, text] = /^Move abort in .+?: [A-Z_0-9a-z]+\(0x[0-9a-f]+\): (.+)$/s.exec(status) ?? [];
  if (text !== undefined) return text.replace(/\.$/, '');
  const [, place, name] = /^Move abort in (.+?): (.+)$/s.exec(status) ?? [];
  if (name !== undefined) return `abort ${name} in ${place!.split('::').slice(1).join('::')}`;
  const [, where, on] =
    /^Execution failed in (.+?) (?:\(on instruction (\w+)\) )?at code offset/.exec(status) ?? [];
  if (where !== undefined) {
    const called = where.split('::').slice(1).join('::');
    return on === undefined ? `the code of ${called} failed` : `${on} failed in ${called}`;
  }
  return status === 'Out of gas' ? 'out of gas' : status;
}

/** A multisig account’s transaction succeeds even if the call in it fails. */
function innerFailure({ events = [] }: Transaction): string | undefined {
  const failed = events.find(({ type }) => /::TransactionExecutionFailed(?:Event)?$/.test(type));
  if (failed === undefined) return undefined;
  const at = textAt(failed.data, 'execution_error', 'abort_location') ?? '';
  const code = textAt(failed.data, 'execution_error', 'error_code') ?? '';
  return `what the multisig account called failed${at && `: ${code} in ${at.split('::').slice(1).join('::')}`}`;
}

/** The framework's transfers, and where each one names the asset. The recipient and the amount follow. */
const TRANSFER_CALLS: Readonly<Record<string, 'native' | 'type' | 'argument'>> = {
  '0x1::aptos_account::transfer': 'native',
  '0x1::aptos_account::fungible_transfer_only': 'native',
  '0x1::aptos_account::transfer_coins': 'type',
  '0x1::coin::transfer': 'type',
  '0x1::aptos_account::transfer_fungible_assets': 'argument',
  '0x1::primary_fungible_store::transfer': 'argument',
};

/** The amount and recipient of a failed transfer. */
export function intendedPieces({ success, payload }: Transaction): Piece[] | undefined {
  const place = TRANSFER_CALLS[payload?.function ?? ''];
  if (success !== false || payload === undefined || place === undefined) return undefined;
  const given = payload.arguments ?? [];
  const [to, digits] = place === 'argument' ? given.slice(1) : given;
  const inner = typeof given[0] === 'string' ? given[0] : textAt(given[0], 'inner');
  const asset = { native: NATIVE_ASSET, type: payload.type_arguments?.[0], argument: inner }[place];
  const amount = readU64(String(digits));
  if (asset === undefined || typeof to !== 'string' || amount === undefined) return undefined;
  return [{ asset: assetOf(asset), amount }, ' to ', { account: to }];
}

const SYSTEM_TEXTS: Readonly<Record<string, string>> = {
  genesis_transaction: 'the beginning of the ledger',
  block_epilogue_transaction: 'the block ends',
  state_checkpoint_transaction: 'the block ends',
  validator_transaction: 'validators agreed on something for the next epoch',
};

function systemPieces(transaction: Transaction): Piece[] {
  const { type, proposer, epoch, round } = transaction;
  if (type === 'block_metadata_transaction' && proposer !== undefined) {
    const place = `epoch ${groupDigits(epoch ?? '?')}, round ${groupDigits(round ?? '?')}`;
    return [`a block begins in ${place}, proposed by `, { account: proposer }];
  }
  return [SYSTEM_TEXTS[type] ?? kindText(transaction)];
}

/** Summary of a transaction. */
export function summaryOf(transaction: Transaction): Piece[] {
  const { type, success, vm_status = '', version, payload } = transaction;
  if (version !== undefined && success === false) return [`failed: ${failureText(vm_status)}`];
  if (!/^(?:user|pending)_transaction$/.test(type)) return systemPieces(transaction);
  const called = calledFunction(transaction);
  const calling: Piece[] = called
    ? ['called ', { call: called }]
    : [`ran a ${payload?.type.replace('_payload', '').replaceAll('_', ' ') ?? 'transaction'}`];
  if (version === undefined) return ['waits: ', ...calling];
  const failure = innerFailure(transaction);
  if (failure !== undefined) return [failure];
  const transfers = transfersOf(transaction);
  const published = publishedPieces(transaction) ?? objectPieces(transaction);
  if (published !== undefined) return published;
  if (transfers.length === 0) return calling;
  const swapped = swapPieces(transaction, transfers);
  if (swapped !== undefined) return swapped;
  const [first, ...others] = transfers;
  const more = others.length === 0 ? [] : [`, and ${counted(others.length, 'other asset')}`];
  return [...transferPieces(first!), ...more];
}
