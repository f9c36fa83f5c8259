/** The faucet over HTTP, as SDKs and the command line of the reference call it (docs/localnet.md). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Faucet } from '../../chain/faucet.ts';
import { signedBytes } from '../../chain/pending-transaction.ts';
import { SubmitError } from '../../chain/submit-error.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { authenticationKey } from '../../move/crypto/authentication-key.ts';
import {
  type Address,
  addressFromBytes,
  formatAddress,
  isReservedAddress,
  parseAddress,
} from '../../move/types/address.ts';
import { receivedBytes } from '../received-bytes.ts';

/** Octas if a request names no amount. */
const DEFAULT_OCTAS = 100_000_000_000n;
const MAX_U64 = 0xffff_ffff_ffff_ffffn;
const MAX_BODY_BYTES = 64 * 1024;
const PUBLIC_KEY_BYTES = 32;
const NO_RECEIVER = 'Account address, auth key, or pub key must be provided and valid';

type FaucetErrorCode =
  | 'InvalidRequest'
  | 'TransactionFailed'
  | 'AptosApiError'
  | 'WebFrameworkError';

class FaucetError extends Error {
  readonly status: number;
  readonly code: FaucetErrorCode;

  constructor(status: number, code: FaucetErrorCode, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A request before it is checked. */
interface FundRequest {
  readonly address?: unknown;
  readonly auth_key?: unknown;
  readonly pub_key?: unknown;
  readonly amount?: unknown;
}

/** @param faucetNow waits while a network reverts */
export function faucetServer(faucetNow: () => Promise<Faucet>): Server {
  return createServer((request, response) => {
    answer(faucetNow, request, response).catch((error: unknown) => {
      sendError(request, response, asFaucetError(error));
    });
  });
}

async function answer(
  faucetNow: () => Promise<Faucet>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
  response.setHeader('access-control-allow-headers', '*');
  if (request.method === 'OPTIONS') {
    response.writeHead(200).end();
    return;
  }
  const { pathname, searchParams } = targetOf(request);
  const route = `${request.method} ${pathname}`;
  switch (route) {
    case 'GET /':
      send(response, 200, 'text/plain; charset=utf-8', 'tap:ok');
      return;
    case 'POST /fund':
    case 'POST /is_eligible': {
      checkContentType(request.headers['content-type']);
      const asked = readJson(await bodyOf(request));
      checkAsset(searchParams.get('asset'));
      const receiver = receiverOf(asked);
      const octas = octasOf(asked.amount);
      const faucet = await faucetNow();
      await checkNeed(faucet, receiver, octas);
      if (pathname === '/is_eligible') {
        response.writeHead(200).end();
        return;
      }
      const { hash } = await faucet.fund(receiver, octas);
      const body = JSON.stringify({ txn_hashes: [hash.toString('hex')] });
      send(response, 200, JSON_TYPE, body);
      return;
    }
    case 'POST /mint': {
      await bodyOf(request);
      const asked = Object.fromEntries(searchParams) as FundRequest;
      const [receiver, octas] = [receiverOf(asked), octasOf(asked.amount)];
      const faucet = await faucetNow();
      await checkNeed(faucet, receiver, octas);
      const pending = await faucet.fund(receiver, octas);
      if (searchParams.get('return_txns') !== 'true') {
        send(response, 200, JSON_TYPE, JSON.stringify([pending.hash.toString('hex')]));
        return;
      }
      const all = encodeBcs((writer) =>
        writer.vector([pending], (to, one) => to.fixed(signedBytes(one))),
      );
      send(response, 200, 'text/plain; charset=utf-8', all.toString('hex'));
      return;
    }
    default: {
      const isKnown = ['/', '/fund', '/mint', '/is_eligible'].includes(pathname);
      throw isKnown
        ? new FaucetError(405, 'WebFrameworkError', 'method not allowed')
        : new FaucetError(404, 'WebFrameworkError', 'not found');
    }
  }
}

function targetOf(request: IncomingMessage): URL {
  try {
    return new URL(request.url!, 'http://faucet');
  } catch {
    throw new FaucetError(404, 'WebFrameworkError', 'not found');
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const bytes = await receivedBytes(request, MAX_BODY_BYTES);
  if (bytes === undefined) throw new FaucetError(413, 'WebFrameworkError', 'payload too large');
  return bytes;
}

/** Clients that send a string without naming its type are accepted. */
function checkContentType(contentType = 'text/plain'): void {
  if (/^(?:application\/json|text\/plain)(?:;|$)/.test(contentType)) return;
  const text = `the \`Content-Type\` requested by the client is not supported: ${contentType}`;
  throw new FaucetError(415, 'WebFrameworkError', text);
}

function readJson(body: Buffer): FundRequest {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch (cause) {
    const text = `parse request payload error: ${(cause as Error).message}`;
    throw new FaucetError(400, 'WebFrameworkError', text);
  }
  throw new FaucetError(400, 'WebFrameworkError', 'parse request payload error: not an object');
}

function checkAsset(asset: string | null): void {
  if (asset === null || asset === 'apt') return;
  throw new FaucetError(400, 'InvalidRequest', `Asset '${asset}' is not supported`);
}

/** The authentication key is taken before the address, and that before the public key. */
function receiverOf({ auth_key: authKey, address, pub_key: publicKey }: FundRequest): Address {
  for (const text of [authKey, address]) {
    if (typeof text !== 'string') continue;
    try {
      return parseAddress(text);
    } catch {
      throw new FaucetError(400, 'InvalidRequest', NO_RECEIVER);
    }
  }
  const bytes = Buffer.from(
    typeof publicKey === 'string' ? publicKey.replace(/^0x/, '') : '',
    'hex',
  );
  if (bytes.length !== PUBLIC_KEY_BYTES) throw new FaucetError(400, 'InvalidRequest', NO_RECEIVER);
  const signature = Buffer.alloc(0);
  return addressFromBytes(authenticationKey({ kind: 'ed25519', publicKey: bytes, signature })!);
}

function octasOf(amount: unknown): bigint {
  if (amount === undefined || amount === null) return DEFAULT_OCTAS;
  const isExact = typeof amount === 'string' || Number.isSafeInteger(amount);
  const text = isExact ? String(amount) : '';
  if (/^\d{1,20}$/.test(text) && BigInt(text) <= MAX_U64) return BigInt(text);
  throw new FaucetError(400, 'InvalidRequest', 'amount is not a u64');
}

/** An amount of 0 only creates an account. @throws FaucetError if it exists */
async function checkNeed(faucet: Faucet, receiver: Address, octas: bigint): Promise<void> {
  if (octas !== 0n || !(await faucet.hasAccount(receiver))) return;
  const shown = isReservedAddress(receiver) ? formatAddress(receiver) : `0x${receiver}`;
  const text = `Account ${shown} already exists and amount asked for is 0`;
  throw new FaucetError(400, 'InvalidRequest', text);
}

/** The error for a client; the message has the text of unexpected errors too, since only tests use a faucet. */
function asFaucetError(error: unknown): FaucetError {
  if (error instanceof FaucetError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof SubmitError) return new FaucetError(403, 'TransactionFailed', message);
  return new FaucetError(500, 'AptosApiError', message);
}

function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message }: FaucetError,
): void {
  if (request.url?.startsWith('/mint') === true) {
    send(response, status, 'text/plain; charset=utf-8', message);
    return;
  }
  const body = { message, error_code: code, rejection_reasons: [], txn_hashes: [] };
  send(response, status, JSON_TYPE, JSON.stringify(body));
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'content-type': contentType }).end(body);
}
