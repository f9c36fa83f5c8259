/** The page's division of signing messages, its sampling of histories and its Move declarations. */
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StructAbi } from '../../src/move/modules/abi-shapes.ts';
import { HexTextError } from '../../src/move/types/address.ts';
import {
  EVEN_SAMPLES,
  evenVersions,
  MAX_SAMPLES,
  refiningVersions,
  SAMPLES_AT_ONCE,
  type Sample,
  type SampleOutcome,
  sampleHistory,
} from '../../web/src/assets/balance-history.ts';
import {
  divideSigningMessage,
  hexDigits,
  readHexText,
} from '../../web/src/encoding/signing-message.ts';
import {
  functionLines,
  type Line,
  structLines,
  typeTokens,
} from '../../web/src/modules/move-declaration.ts';
import { propertySeed } from '../random.ts';

interface Vector {
  readonly name: string;
  readonly chain_id: number;
  readonly request: {
    readonly sender: string;
    readonly sequence_number: string;
    readonly max_gas_amount: string;
    readonly replay_protection_nonce?: string;
    readonly secondary_signers?: readonly string[];
    readonly payload: {
      readonly function?: string;
      readonly type_arguments?: readonly string[];
      readonly arguments?: readonly unknown[];
      readonly multisig_address?: string;
    };
  };
  readonly signing_message: string;
}

const OWN_VECTORS = new URL('../fixtures/encode-vectors.json', import.meta.url);
const SHARED_VECTORS = new URL('../../../shared/vectors/encode.json', import.meta.url);
const readVectors = (url: URL): Vector[] => JSON.parse(readFileSync(url, 'utf8')) as Vector[];

function checkDivision({ request, signing_message, chain_id }: Vector): void {
  const bytes = readHexText(signing_message);
  const { parts, problem } = divideSigningMessage(bytes);
  expect(problem).toBeUndefined();
  expect(parts[0]!.start).toBe(0);
  parts.forEach((part, at) => {
    expect(part.end).toBe(parts[at + 1]?.start ?? bytes.length);
    expect(part.end).toBeGreaterThan(part.start);
  });
  const meaning = (label: string): string | undefined =>
    parts.find((part) => part.label === label)?.meaning;
  const short = (address: string): string => address.replace(/^0x0*(?=.)/, '0x');
  const digits = (label: string): string | undefined => meaning(label)?.replaceAll(',', '');
  expect(meaning('Sender')).toBe(short(request.sender));
  if (request.replay_protection_nonce === undefined) {
    expect(digits('Sequence number')).toBe(request.sequence_number);
  } else expect(meaning('Replay protection nonce')).toBe(request.replay_protection_nonce);
  expect(digits('Maximum gas amount')).toBe(request.max_gas_amount);
  expect(meaning('Chain id')).toBe(String(chain_id));
  const { payload } = request;
  if (payload.function !== undefined) {
    const name = ['Module address', 'Module name', 'Function name'].map(meaning).join('::');
    expect(name).toBe(payload.function);
  }
  if (payload.arguments !== undefined) {
    expect(meaning('Arguments')).toBe(String(payload.arguments.length));
    (payload.type_arguments ?? []).forEach((type, at) => {
      expect(meaning(`Type argument ${at + 1}`)).toBe(type);
    });
  }
  if (payload.multisig_address !== undefined) {
    expect(meaning('Multisig account')).toBe(short(payload.multisig_address));
  }
  (request.secondary_signers ?? []).forEach((signer, at) => {
    expect(meaning(`Secondary signer ${at + 1}`)).toBe(short(signer));
  });
}

describe('dividing a signing message', () => {
  it.each(readVectors(OWN_VECTORS).map((vector) => [vector.name, vector] as const))(
    'says what stands in %s',
    (_, vector) => checkDivision(vector),
  );

  describe.skipIf(!existsSync(SHARED_VECTORS))(
    'the shared vectors (skipped without ../shared)',
    () => {
      it('says what stands in each', () => {
        const vectors = readVectors(SHARED_VECTORS);
        expect(vectors.length).toBeGreaterThan(0);
        vectors.forEach(checkDivision);
      });
    },
  );

  it('reads the fee payer form, which adds an address', () => {
    const vector = readVectors(OWN_VECTORS).find(({ name }) => name === 'multi_agent_empty_list')!;
    const bytes = readHexText(vector.signing_message);
    bytes[32] = 1;
    const payer = readHexText('00'.repeat(30) + 'fee1');
    const { parts, problem } = divideSigningMessage(Uint8Array.of(...bytes, ...payer));
    expect(problem).toBeUndefined();
    expect(parts.at(-1)).toMatchObject({ label: 'Fee payer', meaning: '0xfee1' });
    expect(divideSigningMessage(bytes).problem).toContain('unexpected end of input');
  });

  it('reads other signing domains by the form that fits', () => {
    for (const vector of readVectors(OWN_VECTORS)) {
      const bytes = readHexText(vector.signing_message);
      bytes.fill(0x11, 0, 32);
      const { parts, problem } = divideSigningMessage(bytes);
      expect(problem).toBeUndefined();
      expect(parts[0]!.meaning).toContain('does not know');
    }
  });

  it('shows every byte of damaged messages, and a problem for every cut', () => {
    const vectors = readVectors(OWN_VECTORS).map(({ signing_message }) =>
      Uint8Array.from(readHexText(signing_message)),
    );
    const damaged = fc
      .tuple(fc.constantFrom(...vectors), fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }))
      .map(([bytes, cut, at, flip]) => {
        const copy = bytes.slice(0, cut % bytes.length);
        if (copy.length > 32) copy[32 + (at % (copy.length - 32))]! ^= flip;
        return copy;
      });
    fc.assert(
      fc.property(damaged, (bytes) => {
        const { parts } = divideSigningMessage(bytes);
        const shown = parts.map(({ start, end }) => hexDigits(bytes.subarray(start, end))).join('');
        expect(shown).toBe(hexDigits(bytes));
      }),
      propertySeed(),
    );
    for (const bytes of vectors) {
      for (let length = 0; length < bytes.length; length += 1) {
        expect(divideSigningMessage(bytes.subarray(0, length)).problem).toBeDefined();
      }
      const longer = Uint8Array.of(...bytes, 0);
      expect(divideSigningMessage(longer).problem).toContain('remaining input');
    }
  });
});

describe('hex as people paste it', () => {
  it('may have blanks and a prefix', () => {
    expect(hexDigits(readHexText('0x01 02\n  aBcD'))).toBe('0102abcd');
  });

  it.each(['0', '0xg0', 'é0'])('refuses %j', (text) => {
    expect(() => readHexText(text)).toThrow(HexTextError);
  });
});

describe('sampling a history', () => {
  const balanceAt = (version: bigint): SampleOutcome => {
    if (version < 1_000n)
      return { kind: 'refused', status: 410, code: 'version_pruned', message: 'x' };
    return { kind: 'balance', balance: version < 77_777n ? 2n ** 64n - 1n : 5n };
  };

  it('finds a change and the edge of pruned history within its bound', async () => {
    let asked = 0;
    let under = 0;
    let most = 0;
    const read = async (version: bigint): Promise<SampleOutcome> => {
      asked += 1;
      under += 1;
      most = Math.max(most, under);
      await Promise.resolve();
      under -= 1;
      return balanceAt(version);
    };
    const progress: number[] = [];
    const samples = await sampleHistory({ from: 0n, to: 100_000n }, read, (known) => {
      progress.push(known.length);
    });
    expect(asked).toBe(samples.length);
    expect(asked).toBeLessThanOrEqual(MAX_SAMPLES);
    expect(most).toBeLessThanOrEqual(SAMPLES_AT_ONCE);
    expect(progress.at(-1)).toBe(samples.length);
    const known = new Set(samples.map(({ version }) => version));
    for (const edge of [999n, 1_000n, 77_776n, 77_777n]) expect(known.has(edge)).toBe(true);
  });

  it('never asks outside the range, twice, or more than it may', async () => {
    const range = fc
      .tuple(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 2n ** 20n))
      .map(([to, width]) => ({ from: to > width ? to - width : 0n, to }));
    await fc.assert(
      fc.asyncProperty(range, fc.bigInt(1n, 1_000_003n), async ({ from, to }, factor) => {
        const asked: bigint[] = [];
        const samples = await sampleHistory(
          { from, to },
          async (version) => {
            asked.push(version);
            return { kind: 'balance', balance: (version * factor) % 1_000_003n };
          },
          () => undefined,
        );
        expect(new Set(asked).size).toBe(asked.length);
        expect(asked.length).toBeLessThanOrEqual(MAX_SAMPLES);
        expect(asked.every((version) => version >= from && version <= to)).toBe(true);
        expect(samples[0]!.version).toBe(from);
        expect(samples.at(-1)!.version).toBe(to);
      }),
      propertySeed(),
    );
  });

  it.each([EVEN_SAMPLES - 1, EVEN_SAMPLES, EVEN_SAMPLES + 1])(
    'spreads over %i versions',
    (count) => {
      const versions = evenVersions({ from: 5n, to: 5n + BigInt(count) - 1n }, EVEN_SAMPLES);
      expect(versions).toHaveLength(Math.min(count, EVEN_SAMPLES));
      expect([versions[0], versions.at(-1)]).toEqual([5n, 5n + BigInt(count) - 1n]);
    },
  );

  it('leaves level gaps and neighbours alone', () => {
    const at = (version: bigint, balance: bigint): Sample => ({
      version,
      outcome: { kind: 'balance', balance },
    });
    expect(refiningVersions([at(0n, 1n), at(9n, 1n), at(10n, 2n)], 4)).toEqual([]);
    expect(refiningVersions([at(0n, 1n), at(9n, 3n), at(19n, 9n)], 1)).toEqual([14n]);
  });
});

function text(lines: readonly Line[]): string {
  return lines
    .map(({ indent, tokens }) => '    '.repeat(indent) + tokens.map((token) => token.text).join(''))
    .join('\n');
}

describe('Move declarations', () => {
  const struct: StructAbi = {
    ...{ name: 'Order', is_native: false, is_event: false, is_enum: false },
    abilities: ['copy', 'drop'],
    generic_type_params: [{ constraints: ['store'] }, { constraints: [] }],
    fields: [],
    variants: [],
  };
  const called = {
    ...{ name: 'swap', visibility: 'friend' as const, is_entry: false, is_view: false },
    generic_type_params: [{ constraints: ['copy', 'drop'] }, { constraints: [] }],
    params: ['&mut 0x1::coin::Coin<T0>', '|u64,T1|bool'],
    return: ['0x1::coin::Coin<T1>', '&u8'],
  };

  it('reads like Move', () => {
    expect(text(functionLines(called))).toBe(
      'public(friend) fun swap<T0: copy + drop, T1>(\n    &mut 0x1::coin::Coin<T0>,\n' +
        '    |u64,T1|bool,\n): (0x1::coin::Coin<T1>, &u8)',
    );
    const view = {
      ...called,
      visibility: 'private' as const,
      is_view: true,
      params: [],
      return: ['u64'],
    };
    expect(text(functionLines({ ...view, generic_type_params: [] }))).toBe(
      '#[view]\nfun swap(): u64',
    );
    const entry = {
      ...called,
      visibility: 'public' as const,
      is_entry: true,
      return: [],
      generic_type_params: [],
    };
    expect(text(functionLines({ ...entry, params: ['&signer'] }))).toBe(
      'public entry fun swap(&signer)',
    );
  });

  it('shows structs, events, natives and enums', () => {
    const fields = [{ name: 'value', type: 'u64' }];
    expect(text(structLines({ ...struct, fields, is_event: true }))).toBe(
      '#[event]\nstruct Order<T0: store, T1> has copy, drop {\n    value: u64,\n}',
    );
    expect(text(structLines({ ...struct, is_native: true, abilities: [] }))).toBe(
      'native struct Order<T0: store, T1>;',
    );
    const variants = [
      { name: 'Market', fields: [] },
      { name: 'Limit', fields: [{ name: 'price', type: 'u64' }] },
      {
        name: 'Pair',
        fields: [
          { name: '_0', type: 'u8' },
          { name: '_1', type: 'T0' },
        ],
      },
    ];
    expect(text(structLines({ ...struct, generic_type_params: [], is_enum: true, variants }))).toBe(
      'enum Order has copy, drop {\n    Market,\n    Limit {\n        price: u64,\n    },\n' +
        '    Pair(u8, T0),\n}',
    );
  });

  it('loses no character of a type and links its structs', () => {
    const type = '&mut vector<0xa::m::S<0x1::n::T<&u8>, |u64,T0|(bool, i256)>>';
    const tokens = typeTokens(type);
    expect(tokens.map((token) => token.text).join('')).toBe(type);
    expect(tokens.flatMap(({ target }) => (target === undefined ? [] : [target.name]))).toEqual([
      'S',
      'T',
    ]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        expect(
          typeTokens(any)
            .map((token) => token.text)
            .join(''),
        ).toBe(any);
      }),
      propertySeed(),
    );
  });
});
