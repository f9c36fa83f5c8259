/**
 * Mainnet's configuration when real keyless transactions were committed, from public sources. The verification key is
 * that of the trusted setup of May 2024 (aptos-labs/aptos-keyless-trusted-setup-contributions-may-2024). Google
 * published the issuer's keys in 2024 under these ids. The training wheels' key of that time is not known.
 */
import {
  checkKeylessProofs,
  type KeylessProof,
} from '../../src/execution/authentication/keyless.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { Address } from '../../src/move/types/address.ts';
import type { StructTag } from '../../src/move/types/type-tag.ts';
import { VmError } from '../../src/vm/status/status.ts';
import type { World } from '../../src/vm/world.ts';

export const GOOGLE = 'https://accounts.google.com';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** alpha, beta, gamma, delta; then the points of the public inputs. */
export const VERIFICATION_KEY = [
  'e2f26dbea299f5223b646cb1fb33eadb059d9407559d7441dfd902e3a79a4d2d',
  'abb73dc17fbc13021e2471e0c08bd67d8401f52b73d6d07483794cad4778180e' +
    '0c06f33bbc4c79a9cadef253a68084d382f17788f885c9afd176f7cb2f036789',
  'edf692d95cbdde46ddda5ef7d422436779445c5e66006a42761e1f12efde0018' +
    'c212f3aeb785e49712e7a9353349aaf1255dfb31b7bf60723a480d9293938e19',
  '6176de7d77e614e09ef5e8e19cbf785ffed405d6531cee13cd71a46e2b4ef30d' +
    'eb18f6976c172bdcd7ea8ab2b509991bb5ce34f9fbb42486b78aac62a894a480',
  '7e92d0c6818f2e51248cd1e8e82eb14521d990b0bb155ab0e3cf99b888bc5387',
  'be1ad9f5fec081770956f846e1d0ea97219a3f6499acc33e1a67aef6d6e16898',
].map(hex);

export interface IssuerKey {
  readonly id: string;
  readonly algorithm?: string;
  readonly modulus: string;
}

export const GOOGLE_KEYS: readonly IssuerKey[] = [
  {
    id: '674dbba8faee69acae1bc1be190453678f472803',
    modulus:
      'w-l_VE4KNa22n4nsMwcabujowm924YoQQnwOz_dPYHmDI1O-r2bqw6mHmByXwii7aaeIMHJZWpmT5SkR3OYI' +
      'u5RbSgiU-8JrQoplW_vZY2IqG1y5-frPC_9gnz_0qKKjtjqglCP-1AlfOdu7r5kOpkOACs5mWn4tm1K9R1EP' +
      'jk2T_MMO7FkteZd8woh1fwUUuvbhPyDxBzx9EUsnGWbpTndOYc7W-EUk1jMtWBk3buLeaypVaOLWranK_XFr' +
      'X-xx03BohrfinOqmftYgc0z94sxix7X1G36JZeh8-jpUhwyBPinBxOZOE_5kQn4CYM66Ygxwiws0ZJ-klG2q' +
      'Ti239w',
  },
  {
    id: 'a50f6e70ef4b548a5fd9142eecd1fb8f54dce9ee',
    modulus:
      '4VI56fF0rcWHHVgHFLHrmEO5w8oN9gbSQ9TEQnlIKRg0zCtl2dLKtt0hC6WMrTA9cF7fnK4CLNkfV_Mytk-r' +
      'ydu2qRV_kah62v9uZmpbS5dcz5OMXmPuQdV8fDVIvscDK5dzkwD3_XJ2mzupvQN2reiYgce6-is23vwOyuT-' +
      'n4vlxSqR7dWdssK5sj9mhPBEIlfbuKNykX5W6Rgu-DyuoKRc_aukWnLxWN-yoroP2IHYdCQm7Ol08vAXmrwM' +
      'yDfvsmqdXUEx4om1UZ5WLf-JNaZp4lXhgF7Cur5066213jwpp4f_D3MyR-oa43fSa91gqp2berUgUyOWdYSI' +
      'shABVQ',
  },
];

export interface KnownState {
  readonly configuration: {
    readonly overrideAudiences: readonly string[];
    readonly maxSignatures: number;
    readonly maxHorizonSecs: bigint;
    readonly trainingWheelsKey: Buffer | undefined;
  };
  readonly verificationKey: readonly Buffer[] | undefined;
  /** Seconds since 1970. */
  readonly nowSecs: bigint;
  readonly issuer: string;
  readonly keys: readonly IssuerKey[];
  /** Set if the keys are those of an account, not of the chain. */
  readonly publisher: Address | undefined;
  readonly disabledFlags: readonly number[];
}

export const MAINNET: KnownState = {
  configuration: {
    overrideAudiences: [],
    maxSignatures: 3,
    maxHorizonSecs: 10_000_000n,
    trainingWheelsKey: undefined,
  },
  verificationKey: VERIFICATION_KEY,
  nowSecs: 1_718_000_000n,
  issuer: GOOGLE,
  keys: GOOGLE_KEYS,
  publisher: undefined,
  disabledFlags: [],
};

function jwks({ issuer, keys }: Pick<KnownState, 'issuer' | 'keys'>): Buffer {
  return encodeBcs((writer) =>
    writer.vector([keys], (to, all) => {
      to.bytes(Buffer.from(issuer)).u64(1n);
      to.vector(all, (inner, { id, algorithm = 'RS256', modulus }) => {
        const key = encodeBcs((of) =>
          of.string(id).string('RSA').string(algorithm).string('AQAB').string(modulus),
        );
        inner.string('0x1::jwks::RSA_JWK').bytes(key);
      });
    }),
  );
}

/** The part of a chain's state that verifies keyless accounts. */
export function worldOf(known: KnownState): World {
  const { configuration: c, verificationKey, nowSecs, publisher, disabledFlags } = known;
  const one = '1'.padStart(64, '0');
  const resources = new Map<string, Buffer | undefined>([
    [
      `${one}Configuration`,
      encodeBcs((writer) =>
        writer
          .vector(c.overrideAudiences, (to, text) => to.string(text))
          .u16(c.maxSignatures)
          .u64(c.maxHorizonSecs)
          .option(c.trainingWheelsKey, (to, key) => to.bytes(key))
          .u16(93)
          .u16(120)
          .u16(350)
          .u32(300),
      ),
    ],
    [
      `${one}Groth16VerificationKey`,
      verificationKey &&
        encodeBcs((writer) => {
          for (const point of verificationKey.slice(0, 4)) writer.bytes(point);
          writer.vector(verificationKey.slice(4), (to, point) => to.bytes(point));
        }),
    ],
    [`${one}CurrentTimeMicroseconds`, encodeBcs((writer) => writer.u64(nowSecs * 1_000_000n))],
    [`${one}PatchedJWKs`, jwks(publisher === undefined ? known : { issuer: GOOGLE, keys: [] })],
    ...(publisher === undefined ? [] : [[`${publisher}FederatedJWKs`, jwks(known)] as const]),
  ]);
  const world = {
    isFeatureEnabled: (flag: number) => !disabledFlags.includes(flag),
    resource: (address: Address, { name }: StructTag) => resources.get(address + name),
    nextTurn: () => Promise.resolve(),
  };
  return world as unknown as World;
}

/** Why signatures are refused. */
export async function keylessRefusal(
  proofs: readonly KeylessProof[],
  world: World,
): Promise<{ readonly status: string; readonly message: string | undefined } | undefined> {
  try {
    await checkKeylessProofs(proofs, world);
    return undefined;
  } catch (error) {
    if (!(error instanceof VmError)) throw error;
    return { status: error.status, message: error.text };
  }
}
