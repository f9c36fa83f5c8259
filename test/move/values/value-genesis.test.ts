/** Values of real ledgers: vectors of docs/spec/encode.md §B3, and all contents of the genesis files. */

import { describe, expect, it } from 'vitest';
import { BcsError } from '../../../src/move/bcs/bcs-reader.ts';
import { parseJson } from '../../../src/move/json/json-text.ts';
import { parseTypeTag } from '../../../src/move/types/type-parser.ts';
import { formatTypeTag, type TypeTag } from '../../../src/move/types/type-tag.ts';
import {
  resolveArgumentLayout,
  resolveInnerArgumentLayout,
  resolveLayout,
} from '../../../src/move/values/layout-resolver.ts';
import { decodeArgument } from '../../../src/move/values/value-decode.ts';
import { renderValue } from '../../../src/move/values/value-json.ts';
import { Random, testSeed } from '../../random.ts';
import { type GenesisLedger, genesisPresent, type Network, readGenesis } from './layout-genesis.ts';
import { encodeValueBytes } from './layout-modules.ts';

const ledgers = new Map<Network, GenesisLedger>();

function ledgerOf(network: Network): GenesisLedger {
  const ledger = ledgers.get(network) ?? readGenesis(network);
  ledgers.set(network, ledger);
  return ledger;
}

/** In a text of bytes `7 x 00` means 00 seven times. */
function bytesOf(text: string): Buffer {
  const parts = text.replace(/(\d+) x ([0-9a-f]{2})/g, (_, count, byte) => byte.repeat(count));
  return Buffer.from(parts.replace(/ /g, ''), 'hex');
}

const RENDERED: readonly (readonly [Network, type: string, bytes: string, json: string])[] = [
  [
    'mainnet',
    'u256',
    '32 x ff',
    '"115792089237316195423570985008687907853269984665640564039457584007913129639935"',
  ],
  ['mainnet', 'address', '0a 31 x 00', `"0xa${'0'.repeat(62)}"`],
  ['mainnet', 'vector<0x1::string::String>', '02016101ff', '["a","Unparsable utf-8 0xff"]'],
  ['mainnet', '0x1::string::String', '04225c0a01', '"\\"\\\\\\n\\u0001"'],
  ['mainnet', '0x1::option::Option<u8>', '0105', '{"vec":"0x05"}'],
  ['devnet', '0x1::option::Option<u8>', '0105', '{"vec":[5]}'],
  ['mainnet', '0x1::option::Option<u8>', '00', '{"vec":"0x"}'],
  ['devnet', '0x1::option::Option<u8>', '00', '{"vec":[]}'],
  ['mainnet', '0x1::option::Option<vector<u8>>', '01020102', '{"vec":["0x0102"]}'],
  ['mainnet', '0x1::option::Option<u16>', '0205000600', '{"vec":[5,6]}'],
  ['mainnet', '0x1::guid::GUID', '05 38 x 00 01', '{"id":{"addr":"0x1","creation_num":"5"}}'],
  [
    'mainnet',
    '0x1::coin::CoinInfo<0x1::aptos_coin::AptosCoin>',
    '014101420800',
    '{"decimals":8,"name":"A","supply":{"vec":[]},"symbol":"B"}',
  ],
  [
    'mainnet',
    '0x1::simple_map::SimpleMap<0x1::string::String,vector<u8>>',
    '010161020102',
    '{"data":[{"key":"a","value":"0x0102"}]}',
  ],
  [
    'mainnet',
    '0x1::table_with_length::TableWithLength<address,u64>',
    '31 x 00 aa02 7 x 00',
    '{"inner":{"handle":"0xaa"},"length":"2"}',
  ],
  ['devnet', '0x1::result::Result<u64,bool>', '00 05 7 x 00', '{"_0":"5","__variant__":"Ok"}'],
  [
    'devnet',
    '0x1::big_ordered_map::IteratorPtr<u8>',
    '0101 7 x 00 0005',
    '{"__variant__":"Some","child_iter":{"__variant__":"End"},"key":5,"node_index":"1"}',
  ],
  [
    'devnet',
    '0x1::auth_data::AbstractionAuthData',
    '0001010102',
    '{"__variant__":"V1","authenticator":"0x02","digest":"0x01"}',
  ],
  [
    'devnet',
    'vector<0x1::object::Object<0x1::fungible_asset::Metadata>>',
    '01 31 x 00 01',
    '[{"inner":"0x1"}]',
  ],
  [
    'devnet',
    '0x1::aggregator_v2::DerivedStringSnapshot',
    '01610100',
    '{"padding":"0x00","value":"a"}',
  ],
  [
    'devnet',
    '0x1::sigma_protocol_homomorphism::TransformationFunction<u8>',
    '0701 32 x 00 0104 636f696e 05 76616c7565 00 01 7 x 00 02 12 08 6 x 00',
    '{"_0":{"__captured__":["2066"],"__fun_name__":"0x1::coin::value","__mask__":"1"}}',
  ],
];

/** Events of the genesis files by their index. */
const EVENTS: readonly (readonly [Network, index: number, type: string, json: string])[] = [
  [
    'mainnet',
    0,
    '0x1::voting::RegisterForumEvent',
    '{"hosting_account":"0x1","proposal_type_info":{"account_address":"0x1","module_name":"0x676f7665726e616e63655f70726f706f73616c","struct_name":"0x476f7665726e616e636550726f706f73616c"}}',
  ],
  ['mainnet', 2, '0x1::coin::DepositEvent', '{"amount":"2000000000"}'],
  [
    'mainnet',
    853,
    '0x1::stake::AddStakeEvent',
    '{"amount_added":"1690979200000000","pool_address":"0xf05d2fe6618a3cb4258e94f2da24c1ee71ae4e7942b4f8b5836ad5267e59568f"}',
  ],
  [
    'mainnet',
    854,
    '0x1::staking_contract::CreateStakingContractEvent',
    '{"commission_percentage":"12","operator":"0x4ec7c16e84a77dc053ed3df66ddc99fd555d04b6e9a32e8fae9699af810237e","pool_address":"0xf05d2fe6618a3cb4258e94f2da24c1ee71ae4e7942b4f8b5836ad5267e59568f","principal":"1690979200000000","voter":"0x15654b15e898fdf9c342bc19d7759a1e507cc47f77e6dc64b8eedfa90bc9593"}',
  ],
  [
    'mainnet',
    1497,
    '0x1::block::NewBlockEvent',
    '{"epoch":"0","failed_proposer_indices":[],"hash":"0x0","height":"0","previous_block_votes_bitvec":"0x","proposer":"0x0","round":"0","time_microseconds":"0"}',
  ],
  [
    'devnet',
    0,
    '0x1::fungible_asset::Creation',
    '{"decimals":8,"icon_uri":"","maximum_supply":{"vec":[]},"metadata":"0xa","name":"Aptos Coin","project_uri":"","symbol":"APT"}',
  ],
];

const ENCODED: readonly (readonly [Network, type: string, json: string, bytes: string])[] = [
  ['mainnet', 'vector<u16>', '[1,2]', '0201000200'],
  ['mainnet', 'vector<vector<u8>>', '["0x01","","0x"]', '0301010000'],
  ['mainnet', 'vector<vector<u64>>', '[["1"],[]]', '0201010000000000000000'],
  [
    'devnet',
    '0x1::option::Option<0x1::option::Option<u64>>',
    '{"vec":[{"vec":["1"]}]}',
    '01010100000000000000',
  ],
  ['devnet', '0x1::option::Option<u8>', '{"vec":"05"}', '0105'],
  ['mainnet', '0x1::option::Option<u8>', '{"vec":"05"}', '0105'],
  [
    'devnet',
    'vector<0x1::object::Object<0x1::fungible_asset::Metadata>>',
    '[{"inner":"0xa"}]',
    '01 31 x 00 0a',
  ],
  ['devnet', '0x1::object::Object<0x9::nope::X>', '"0xa"', '31 x 00 0a'],
  ['mainnet', '0x1::guid::ID', '{"addr":"0x1","creation_num":"1"}', '01 38 x 00 01'],
  ['devnet', '0x1::account::EncryptedDK', '{"V1":{"ciphertext":"0x0102"}}', '00020102'],
  ['devnet', 'vector<0x1::cmp::Ordering>', '[{"Less":{}},{"Equal":{}}]', '020001'],
];

/** Far more than needed, because other tests run at the same time. */
const TIMEOUT_MS = 20_000;

const skipped = genesisPresent ? '' : ' (skipped: no genesis files beside the repository)';

describe.skipIf(!genesisPresent)(`vectors of docs/spec/encode.md §B3${skipped}`, () => {
  it.each(RENDERED)('%s %s: %s', async (network, type, bytes, json) => {
    const layout = await resolveLayout(parseTypeTag(type), ledgerOf(network).lookup);
    expect(renderValue(layout, bytesOf(bytes))).toBe(json);
  });

  it.each(EVENTS)('%s event %i is a %s', async (network, index, type, json) => {
    const { events, lookup } = ledgerOf(network);
    const { typeTag, data } = events[index]!;
    expect(formatTypeTag(typeTag)).toBe(type);
    expect(renderValue(await resolveLayout(typeTag, lookup), data)).toBe(json);
  });

  it.each(ENCODED)('%s %s: %s', async (network, type, json, bytes) => {
    const layout = await resolveArgumentLayout(parseTypeTag(type), ledgerOf(network).lookup);
    const encoded = encodeValueBytes(layout, parseJson(Buffer.from(json)));
    expect(encoded.toString('hex')).toBe(bytesOf(bytes).toString('hex'));
    expect(encodeValueBytes(layout, decodeArgument(layout, encoded)).equals(encoded)).toBe(true);
  });
});

describe.skipIf(!genesisPresent)(`all of the genesis files${skipped}`, () => {
  it.each([
    ['mainnet', 1499, 1323, 0],
    ['testnet', 33, 64, 0],
    ['devnet', 37, 99, 20],
  ] as const)(
    '%s: %i events, %i resources, %i group members render and come back',
    async (network, eventCount, resourceCount, memberCount) => {
      const { events, resources, groupMembers, lookup } = ledgerOf(network);
      expect([events.length, resources.length, groupMembers.length]).toEqual([
        eventCount,
        resourceCount,
        memberCount,
      ]);
      const values: { tag: TypeTag; bytes: Buffer }[] = [
        ...events.map(({ typeTag, data }) => ({ tag: typeTag, bytes: data })),
        ...[...resources, ...groupMembers].map(({ tag, bytes }) => {
          return { tag: { kind: 'struct', struct: tag } as const, bytes };
        }),
      ];
      for (const { tag, bytes } of values) {
        const text = renderValue(await resolveLayout(tag, lookup), bytes);
        // No number here is above 2^53, so this compares texts, including order and escapes.
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        const layout = await resolveInnerArgumentLayout(tag, lookup);
        const again = encodeValueBytes(layout, decodeArgument(layout, bytes));
        expect(again.equals(bytes)).toBe(true);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'corrupted values are refused or are other values, never worse',
    async () => {
      const random = new Random(testSeed('corrupted genesis values'));
      const { resources, groupMembers, lookup } = ledgerOf('devnet');
      let refused = 0;
      for (const { tag, bytes } of [...resources, ...groupMembers]) {
        const type: TypeTag = { kind: 'struct', struct: tag };
        const decodeLayout = await resolveLayout(type, lookup);
        const encodeLayout = await resolveInnerArgumentLayout(type, lookup);
        for (let round = 0; round < 20; round += 1) {
          const damaged = damage(bytes, random);
          refused += attempt(() => JSON.parse(renderValue(decodeLayout, damaged)));
          refused += attempt(() => {
            const again = encodeValueBytes(encodeLayout, decodeArgument(encodeLayout, damaged));
            expect(again.equals(damaged)).toBe(true);
          });
        }
      }
      expect(refused).toBeGreaterThan(500);
    },
    TIMEOUT_MS,
  );
});

function attempt(run: () => void): number {
  try {
    run();
    return 0;
  } catch (error) {
    if (error instanceof BcsError) return 1;
    throw error;
  }
}

function damage(bytes: Buffer, random: Random): Buffer {
  const damaged = Buffer.from(bytes);
  const choice = random.fraction();
  const at = random.below(bytes.length);
  if (choice < 0.2) return damaged.subarray(0, at);
  if (choice < 0.3) return Buffer.concat([damaged, Buffer.from([0])]);
  if (damaged.length > 0) damaged[at] = choice < 0.6 ? 0xff : random.below(256);
  return damaged;
}
