/** Derived addresses: the worked examples of docs/spec/ledger.md §6.4 and docs/spec/http.md §9.4. */
import { expect, test } from 'vitest';
import { padAddress, parseAddress } from '../../../src/move/types/address.ts';
import {
  NATIVE_METADATA_ADDRESS,
  namedObjectAddress,
  pairedMetadataAddress,
  primaryStoreAddress,
} from '../../../src/move/types/derived-address.ts';
import { APTOS_COIN_TAG } from '../../../src/move/types/framework-tag.ts';
import type { StructTag } from '../../../src/move/types/type-tag.ts';

function tag(
  address: string,
  module: string,
  name: string,
  typeArguments: StructTag['typeArguments'] = [],
): StructTag {
  return { address: parseAddress(address), module, name, typeArguments };
}

test.each([
  ['0xa550c18', 'b26af11b4f332a7794398554b6313a38c6a102c74c5ba9a12629ae3a492acb2f'],
  ['0x1', 'c6d3d69a9810647845a5ca5ebe905256dc37327c1c39c1d673de00caaac0e3a8'],
  ['0xcafe', 'e0185f4b5f826f407f026920e7335961c4836248ad87accf8e758748498dc398'],
  [
    '0x653a60dab27fe8f3859414973d218e1b7551c778a8650a7055a85c0f8041b2a4',
    'efaed62f184a6578d84f409082ec530996732a3e4ccdec1cb7b36e7968dbe450',
  ],
])('primary store of %s for 0xa', (owner, store) => {
  expect(primaryStoreAddress(parseAddress(owner), NATIVE_METADATA_ADDRESS)).toBe(store);
});

test.each([
  [
    tag('0x7fd500c11216f0fe3095d0c4b8aa4d64a4e2e04f83758462f2b127255643615', 'thl_coin', 'THL'),
    '377adc4848552eb2ea17259be928001923efe12271fef1667e2b784f04a7cf3a',
  ],
  [
    tag(
      '0x66c34778730acbb120cefa57a3d98fd21e0c8b3a51e9baee530088b2e444e94c',
      'moon_coin',
      'MoonCoin',
    ),
    'f772c28c069aa7e4417d85d771957eb3c5c11b5bf90b1965cda23b899ebc0384',
  ],
  [tag('0x5a', 'usd', 'USD'), '957a8849a6bb6d076429dc98bee3dbb64e8d3bc386fac426bc5aa96219831981'],
  [
    tag('0x1', 'coin', 'Wrap', [{ kind: 'struct', struct: tag('0x2', 'a', 'B') }, { kind: 'u8' }]),
    '26a1a131c4d225865dda6a3a5cd71e108343b8e801df88cf4b7b872d94467dec',
  ],
  [APTOS_COIN_TAG, padAddress('a')],
])('metadata paired with a coin', (coinType, metadata) => {
  expect(pairedMetadataAddress(coinType)).toBe(metadata);
});

test('the native coin is one type only', () => {
  const like = { ...APTOS_COIN_TAG, typeArguments: [{ kind: 'u8' }] } satisfies StructTag;
  for (const coinType of [like, tag('0x2', 'aptos_coin', 'AptosCoin')]) {
    expect(pairedMetadataAddress(coinType)).not.toBe(NATIVE_METADATA_ADDRESS);
  }
});

test('store of 0xcafe for the metadata paired with 0x5a::usd::USD', () => {
  const metadata = pairedMetadataAddress(tag('0x5a', 'usd', 'USD'));
  expect(primaryStoreAddress(padAddress('cafe'), metadata)).toBe(
    '1640550c92717a4c0effba3d7d02f4b0b86bbe2bf24f4960b5c4905c4feb0934',
  );
});

test('named object', () => {
  const creator = '120e79e45d21ef439963580c77a023e2729db799e96e61f878fac98fde5b9cc9';
  const expected = 'be376272a5c4361ee96bc147525b26b3bf2ee25f433cbd410a7b3b4b881ffcbf';
  const seed = 'migration::migration_contract';
  expect(namedObjectAddress(creator, seed)).toBe(expected);
});
