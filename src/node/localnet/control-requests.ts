/**
 * Control of a local network over HTTP: `POST /v1/-/NAME` with a JSON object (docs/localnet.md, Control). Web
 * pages of other origins, and foreign names that resolve to this address, are refused. Programs are not: on an
 * address that others reach, they can control the network.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mining } from '../../chain/local-chain.ts';
import { SubmitError } from '../../chain/submit-error.ts';
import { OverrideError } from '../../ledger/overrides/override-error.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { MoveError } from '../../move/errors.ts';
import { formatAddress } from '../../move/types/address.ts';
import { NodeError } from '../node-error.ts';
import { receivedBytes } from '../received-bytes.ts';
import type { Localnet } from './localnet.ts';

const PREFIX = '/v1/-/';
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_BLOCKS = 10_000;
const MAX_INTERVAL_MS = 3_600_000;

type Body = Readonly<Record<string, unknown>>;

/** Returns the answer's content: an object for JSON, bytes, or nothing. */
type Command = (net: Localnet, body: Body, bytes: Buffer) => Promise<unknown>;

const edited = async (version: Promise<bigint>) => ({ version: String(await version) });

const COMMANDS: Readonly<Record<string, Command>> = {
  mine: async (net, { blocks = 1 }) => {
    await net.mine(Number(integer(blocks, 'blocks', MAX_BLOCKS)));
    return { version: String(net.version), timestamp: String(net.timestampUsecs) };
  },
  set_mining: (net, { mode, interval_ms: interval }) => net.setMining(miningOf(mode, interval)),
  set_time: (net, { usecs }) => net.setTime(integer(usecs, 'usecs')),
  move_time: (net, { usecs }) => net.moveTime(integer(usecs, 'usecs')),
  pending: async (net) =>
    (await net.pending()).map(({ hash, sender, sequenceNumber, nonce }) => ({
      ...{ hash, sender },
      ...(sequenceNumber !== undefined && { sequence_number: String(sequenceNumber) }),
      ...(nonce !== undefined && { replay_protection_nonce: String(nonce) }),
    })),
  accounts: async (net) => net.accounts.map(({ address }) => ({ address: formatAddress(address) })),
  sign: async (net, { account, message }) => {
    const signed = net.sign(text(account, 'account'), hex(message, 'message'));
    return { public_key: formatHex(signed.publicKey), signature: formatHex(signed.signature) };
  },
  drop: async (net, { hash }) => ({ dropped: await net.drop(optionalText(hash, 'hash')) }),
  fund: async (net, { account, amount }) => ({
    hash: await net.fund(text(account, 'account'), integer(amount, 'amount')),
  }),
  set_balance: (net, { account, amount, asset }) =>
    edited(
      net.setBalance(
        text(account, 'account'),
        integer(amount, 'amount'),
        optionalText(asset, 'asset'),
      ),
    ),
  set_resource: (net, { account, type, value }) =>
    edited(net.setResource(text(account, 'account'), text(type, 'type'), hex(value, 'value'))),
  delete_resource: (net, { account, type }) =>
    edited(net.deleteResource(text(account, 'account'), text(type, 'type'))),
  set_module: (net, { bytecode }) => edited(net.setModule(hex(bytecode, 'bytecode'))),
  set_table_item: (net, { handle, key, value }) =>
    edited(
      net.setTableItem(
        text(handle, 'handle'),
        hex(key, 'key'),
        value === undefined || value === null ? undefined : hex(value, 'value'),
      ),
    ),
  set_features: (net, { enable, disable }) =>
    edited(
      net.setFeatures({ enable: flags(enable, 'enable'), disable: flags(disable, 'disable') }),
    ),
  set_gas: (net, { name, value }) =>
    edited(net.setGas(text(name, 'name'), integer(value, 'value'))),
  impersonate: (net, { account }) => net.impersonate(optionalText(account, 'account')),
  stop_impersonating: (net, { account }) => net.stopImpersonating(optionalText(account, 'account')),
  snapshot: async (net) => ({ id: await net.snapshot() }),
  revert: (net, { id }) => net.revert(Number(integer(id, 'id'))),
  dump: (net) => net.dump(),
  load: (net, _, bytes) => net.load(bytes),
  reset: (net) => net.reset(),
};

export function controlAnswer(
  net: Localnet,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> | undefined {
  const [path] = request.url!.split('?');
  const name = path!.startsWith(PREFIX) ? path!.slice(PREFIX.length) : '';
  if (request.method !== 'POST' || !Object.hasOwn(COMMANDS, name)) return undefined;
  return answer(net, name, request, response);
}

async function answer(
  net: Localnet,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    assertLocalOrigin(request);
    const bytes = await bodyOf(request);
    const body = name === 'load' ? {} : objectOf(bytes);
    const result = await COMMANDS[name]!(net, body, bytes);
    const isBytes = Buffer.isBuffer(result);
    response.writeHead(200, {
      'content-type': isBytes ? 'application/octet-stream' : 'application/json',
    });
    response.end(isBytes ? result : JSON.stringify(result ?? {}));
  } catch (error) {
    const { status, code, message } = errorResponseOf(error);
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ message, error_code: code, vm_error_code: null }));
  }
}

/** The headers that a browser sends tell a page's request from a program's. @throws NodeError */
function assertLocalOrigin({ headers: { host = '', origin }, socket }: IncomingMessage): void {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const isOwn = ['localhost', '127.0.0.1', '::1', socket.localAddress ?? ''].includes(name);
  if (isOwn && (origin === undefined || origin === `http://${host}`)) return;
  throw new ControlError(
    403,
    'forbidden',
    'the Host or Origin of the request is not that of this network',
  );
}

class ControlError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

function errorResponseOf(error: unknown): { status: number; code: string; message: string } {
  if (error instanceof ControlError) return error;
  const isBadInput = [OverrideError, MoveError, SubmitError, RangeError].some(
    (kind) => error instanceof kind,
  );
  const message = error instanceof Error ? error.message : String(error);
  if (isBadInput || (error instanceof NodeError && ['bad_input', 'damaged'].includes(error.code))) {
    return { status: 400, code: 'invalid_input', message };
  }
  // Only its own tests see it.
  return { status: 500, code: 'internal_error', message };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const bytes = await receivedBytes(request, MAX_BODY_BYTES);
  if (bytes === undefined) throw new ControlError(413, 'invalid_input', 'too large');
  return bytes;
}

function objectOf(bytes: Buffer): Body {
  if (bytes.length === 0) return {};
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  } catch {
    // Reported below.
  }
  throw badInput('the body is a JSON object, or nothing');
}

function badInput(message: string): NodeError {
  return new NodeError('bad_input', message);
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw badInput(`${name} is a string`);
}

function optionalText(value: unknown, name: string): string | undefined {
  return value === undefined ? undefined : text(value, name);
}

/** A whole number, also as text: larger ones than 2^53 need that. */
function integer(value: unknown, name: string, max?: number): bigint {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  const isText = typeof value === 'string' && /^\d{1,20}$/.test(value);
  if ((isNumber || isText) && (max === undefined || BigInt(value) <= BigInt(max))) {
    return BigInt(value);
  }
  throw badInput(`${name} is a whole number${max === undefined ? '' : ` up to ${max}`}`);
}

function hex(value: unknown, name: string): Buffer {
  const digits = text(value, name);
  if (/^0x(?:[0-9a-fA-F]{2})*$/.test(digits)) return Buffer.from(digits.slice(2), 'hex');
  throw badInput(`${name} is hexadecimal, with 0x`);
}

function flags(value: unknown, name: string): number[] | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.map((flag) => Number(integer(flag, name)));
  throw badInput(`${name} is a list of numbers`);
}

function miningOf(mode: unknown, interval: unknown): Mining {
  if (mode === 'auto' || mode === 'manual') return { kind: mode };
  if (mode !== 'interval') throw badInput('mode is auto, manual or interval');
  return {
    kind: 'interval',
    intervalMs: Math.max(1, Number(integer(interval, 'interval_ms', MAX_INTERVAL_MS))),
  };
}
