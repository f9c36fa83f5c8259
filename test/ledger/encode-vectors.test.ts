/**
 * The vectors of docs/spec/encode.md §A7, computed in three independent ways (reference code, SDK 7.3.0, a plain
 * encoder): with modules built from the parameter types in the vectors, and with the real genesis if it exists.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatHex } from '../../src/move/bcs/hex.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import { encodeSubmission } from '../../src/submission/encode/index.ts';
import { genesisPresent, type Network, readGenesis } from '../move/values/layout-genesis.ts';
import { OLD_FRAMEWORK } from '../move/values/layout-modules.ts';
import { ledgerOf } from './encode-modules.ts';

interface Vector {
  readonly name: string;
  readonly ledger: Network;
  readonly chain_id: number;
  readonly function_params: readonly string[];
  readonly request: {
    readonly payload: {
      readonly function?: string;
      readonly type_arguments?: readonly string[];
      readonly transaction_payload?: { readonly function: string };
    };
  };
  readonly signing_message: string;
}

function readVectors(url: URL): Vector[] {
  return JSON.parse(readFileSync(url, 'utf8')) as Vector[];
}

const vectors = readVectors(new URL('../fixtures/encode-vectors.json', import.meta.url));

async function encode(vector: Vector, lookupModule: ModuleLookup): Promise<string> {
  const body = Buffer.from(JSON.stringify(vector.request));
  return formatHex(await encodeSubmission(body, { chainId: vector.chain_id, lookupModule }));
}

/** The ledger that a vector describes. Object is an address, so it needs no module. */
function describedLedger({ request, function_params }: Vector): ModuleLookup {
  const { payload } = request;
  const path = payload.function ?? payload.transaction_payload?.function;
  if (path === undefined) return () => undefined;
  const typeParameters = payload.type_arguments?.length ?? 0;
  return ledgerOf({ [path]: { parameters: function_params, typeParameters } }, OLD_FRAMEWORK);
}

describe('the vectors of docs/spec/encode.md §A7', () => {
  it('are all there', () => {
    expect(vectors.length).toBe(15);
  });

  it.each(vectors.map((vector) => [vector.name, vector] as const))(
    '%s, functions made from the described parameters',
    async (_name, vector) => {
      expect(await encode(vector, describedLedger(vector))).toBe(vector.signing_message);
    },
  );
});

describe.skipIf(!genesisPresent)('vectors on the real genesis (needs ../shared)', () => {
  const lookups = new Map<Network, ModuleLookup>();
  const lookupOf = (network: Network): ModuleLookup => {
    const lookup = lookups.get(network) ?? readGenesis(network).lookup;
    lookups.set(network, lookup);
    return lookup;
  };

  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', async (_name, vector) => {
    const lookup = lookupOf(vector.ledger);
    expect(await encode(vector, lookup)).toBe(vector.signing_message);
    // The second time with cached layouts.
    expect(await encode(vector, lookup)).toBe(vector.signing_message);
  });

  const shared = new URL('../../../shared/vectors/encode.json', import.meta.url);
  it.skipIf(!existsSync(shared))('the shared file holds no other vectors', () => {
    for (const vector of readVectors(shared)) {
      expect(vectors.find((one) => one.name === vector.name)).toEqual(vector);
    }
  });
});
