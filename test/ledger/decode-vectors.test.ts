/**
 * Decoding the vectors of docs/spec/encode.md §A7: the result is the original request, and encodes to the same bytes.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatHex, parseHex } from '../../src/move/bcs/hex.ts';
import { formatJson } from '../../src/move/json/json-text-print.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import { decodeSubmission, submissionJson } from '../../src/submission/decode/index.ts';
import { encodeSubmission } from '../../src/submission/encode/index.ts';
import { genesisPresent, type Network, readGenesis } from '../move/values/layout-genesis.ts';
import { OLD_FRAMEWORK } from '../move/values/layout-modules.ts';
import { ledgerOf } from './encode-modules.ts';

interface Payload {
  readonly function?: string;
  readonly type_arguments?: readonly string[];
  readonly transaction_payload?: Payload;
  readonly code?: { readonly bytecode: string; readonly abi?: object };
}

interface Vector {
  readonly name: string;
  readonly ledger: Network;
  readonly chain_id: number;
  readonly function_params: readonly string[];
  readonly request: { readonly payload: Payload };
  readonly signing_message: string;
}

const fixture = new URL('../fixtures/encode-vectors.json', import.meta.url);
const vectors = JSON.parse(readFileSync(fixture, 'utf8')) as Vector[];
const named = vectors.map((vector) => [vector.name, vector] as const);

function describedLedger({ request, function_params }: Vector): ModuleLookup {
  const { payload } = request;
  const path = payload.function ?? payload.transaction_payload?.function;
  if (path === undefined) return () => undefined;
  const typeParameters = payload.type_arguments?.length ?? 0;
  return ledgerOf({ [path]: { parameters: function_params, typeParameters } }, OLD_FRAMEWORK);
}

async function decode(vector: Vector, lookupModule: ModuleLookup) {
  const context = { chainId: vector.chain_id, lookupModule };
  const decoded = await decodeSubmission(parseHex(vector.signing_message), context);
  const whole = Buffer.from(formatJson(submissionJson(decoded)));
  const again = formatHex(await encodeSubmission(whole, context));
  return { notes: decoded.notes, request: JSON.parse(formatJson(decoded.request)), again };
}

/**
 * Removes the differences between two spellings of a request: padding of addresses, hex without 0x, an unneeded ABI.
 */
function plain(value: unknown): unknown {
  if (typeof value === 'string') {
    if (/^(0x)?[0-9a-fA-F]*$/.test(value) && !/^\d+$/.test(value)) {
      return value.replace(/^0x/, '').toLowerCase().replace(/^0+/, '');
    }
    return value.replaceAll(/0x0*(?=[0-9a-f]+::)/g, '0x').replaceAll(/\s/g, '');
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'abi');
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
}

describe('the vectors decoded', () => {
  it.each(named)('%s, functions made from the described parameters', async (_name, vector) => {
    const { request, notes, again } = await decode(vector, describedLedger(vector));
    expect(again).toBe(vector.signing_message);
    expect(notes.encodesBack).toBe(true);
    expect(plain(request.payload)).toEqual(plain(vector.request.payload));
    const members = Object.keys(vector.request).filter((name) => name !== 'sequence_number');
    for (const member of members) expect(Object.keys(request)).toContain(member);
  });
});

describe.skipIf(!genesisPresent)('vectors on the real genesis (needs ../shared)', () => {
  it.each(named)('%s', async (_name, vector) => {
    const { notes, again } = await decode(vector, readGenesis(vector.ledger).lookup);
    expect(again).toBe(vector.signing_message);
    expect(notes.encodesBack).toBe(true);
    const wanted = vector.function_params.filter((type) => !type.endsWith('signer'));
    expect(notes.parameterTypes ?? wanted).toEqual(wanted);
  });
});
