/**
 * View functions over the reference's chain: limits, switches, invalid input, and balances compared with the other
 * operation.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_CALL_ARGUMENTS, MAX_CALL_TYPES } from '../../src/execution/view-request.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, type Address, addressBytes } from '../../src/move/types/address.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import { type TypeTag, writeTypeTag } from '../../src/move/types/type-tag.ts';
import { Random, testSeed } from '../random.ts';
import {
  NEWEST_VERSION,
  type ReferenceLedger,
  referenceFile,
  serveReferenceChain,
} from '../reference/reference-chain.ts';
import type { TestReply } from './client.ts';
import { expectError } from './error-answers.ts';

let ledger: ReferenceLedger;
beforeAll(async () => {
  ledger = await serveReferenceChain();
});
afterAll(() => ledger.close());

const VIEW = 'application/x.aptos.view_function+bcs';
const APT = '0x1::aptos_coin::AptosCoin';
const URL = '/v1/view';

const postJson = (body: unknown, url = URL, accept = 'application/json'): Promise<TestReply> =>
  ledger.api.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const postBcs = (body: Uint8Array): Promise<TestReply> =>
  ledger.api.request({ method: 'POST', url: URL, headers: { 'content-type': VIEW }, body });

interface Call {
  readonly address?: Address;
  readonly module: string;
  readonly name: string;
  readonly types?: readonly TypeTag[];
  readonly args?: readonly Buffer[];
}

function callBytes({ address = ADDRESS_ONE, module, name, types = [], args = [] }: Call): Buffer {
  return encodeBcs((writer) => {
    writer.address(address).string(module).string(name);
    writer.vector(types, (to, tag) => writeTypeTag(to, tag));
    writer.vector(args, (to, argument) => to.bytes(argument));
  });
}

const BALANCE = { module: 'coin', name: 'balance' };
const ONE = Buffer.from(addressBytes(ADDRESS_ONE));
const u8: TypeTag = { kind: 'u8' };

describe('calls in BCS', () => {
  it.each([
    [MAX_CALL_TYPES - 1, 'VMError with status NUMBER_OF_TYPE_ARGUMENTS_MISMATCH'],
    [MAX_CALL_TYPES, 'VMError with status NUMBER_OF_TYPE_ARGUMENTS_MISMATCH'],
    [MAX_CALL_TYPES + 1, 'type arguments of more than 512 types are not loaded'],
  ])('with %i types', async (count, message) => {
    const types = Array.from({ length: count }, () => u8);
    const reply = await postBcs(callBytes({ ...BALANCE, types, args: [ONE] }));
    expect(reply.statusCode).toBe(400);
    expect(reply.json().message).toContain(message);
  });

  it.each([
    [MAX_CALL_ARGUMENTS - 1, 'VMError with status INVALID_MAIN_FUNCTION_SIGNATURE'],
    [MAX_CALL_ARGUMENTS, 'VMError with status INVALID_MAIN_FUNCTION_SIGNATURE'],
    [MAX_CALL_ARGUMENTS + 1, 'calls with more than 1024 arguments are not read'],
  ])('with %i arguments', async (count, message) => {
    const args = Array.from({ length: count }, () => ONE);
    const reply = await postBcs(callBytes({ ...BALANCE, types: [parseTypeTag(APT)], args }));
    expect(reply.statusCode).toBe(400);
    expect(reply.json().message).toContain(message);
  });

  const nested = (depth: number): TypeTag =>
    Array.from({ length: depth }).reduce<TypeTag>((element) => ({ kind: 'vector', element }), u8);
  const DEEP = 'Failed to deserialize input into ViewRequest: exceeded max container depth while';

  it('nest their types six deep, each in one more vector', async () => {
    const reply = await postBcs(callBytes({ ...BALANCE, types: [nested(6)], args: [ONE] }));
    expect(reply.json().message).toContain('Expected a struct type, found: vector');
    const deep = await postBcs(callBytes({ ...BALANCE, types: [nested(7)], args: [ONE] }));
    expectError(deep, 400, 'invalid_input', `${DEEP} entering: TypeTag`);
  });

  it('count a struct twice', async () => {
    const struct = (inner: string) => parseTypeTag(`0x1::coin::Coin<${inner}>`);
    const three = struct('0x1::coin::Coin<0x1::coin::Coin<u8>>');
    const reply = await postBcs(callBytes({ ...BALANCE, types: [three], args: [ONE] }));
    expect(reply.json()).toEqual(['0']);
    const four = struct('0x1::coin::Coin<0x1::coin::Coin<0x1::coin::Coin<u8>>>');
    const deep = await postBcs(callBytes({ ...BALANCE, types: [four], args: [ONE] }));
    expectError(deep, 400, 'invalid_input', `${DEEP} entering: StructTag`);
  });

  it('that are random bytes, or damaged, never fail in the node', async () => {
    const random = new Random(testSeed('view calls'));
    const good = callBytes({ ...BALANCE, types: [parseTypeTag(APT)], args: [ONE] });
    for (let round = 0; round < 300; round += 1) {
      const bytes = round % 3 === 0 ? random.bytes(random.below(80)) : Buffer.from(good);
      if (round % 3 !== 0) bytes[random.below(bytes.length)] = random.below(256);
      const { statusCode } = await postBcs(bytes);
      expect([200, 400, 403], bytes.toString('hex')).toContain(statusCode);
    }
    expect(ledger.log.errors).toEqual([]);
  });
});

describe('a parameter that is a reference', () => {
  const option = [
    `address: Address(${ADDRESS_ONE})`,
    'module: IdentifierWrapper(Identifier("option"))',
    'name: IdentifierWrapper(Identifier("Option"))',
    'generic_type_params: [GenericTypeParam { index: 0 }]',
  ].join(', ');
  const types = ['u8'];

  it.each([
    ['vector::length', ['0x'], 'Vector { items: GenericTypeParam { index: 0 } }'],
    ['option::is_none', [{ vec: [] }], `Struct(MoveStructTag { ${option} })`],
  ])('is named as %s declares it', async (name, args, declared) => {
    const reply = await postJson({
      function: `0x1::${name}`,
      type_arguments: types,
      arguments: args,
    });
    const message =
      'Invalid move type for converting into `TypeTag`: ' +
      `Reference { mutable: false, to: ${declared} }`;
    expect(reply.json()).toMatchObject({ message, error_code: 'invalid_input' });
    expect(reply.statusCode).toBe(400);
  });

  it('is counted with its type arguments put in', async () => {
    const reply = await postJson({
      function: '0x1::vector::length',
      type_arguments: types,
      arguments: [],
    });
    expect(reply.json().message).toBe('expected 1 arguments [string<hex>], but got 0 ([])');
  });
});

describe('a version', () => {
  it('is checked before the call', async () => {
    const message = 'Ledger version not found by Ledger version(1533)';
    const reply = await postJson({ function: 'x' }, `${URL}?ledger_version=1533`);
    expect(reply.json().error_code).toBe('web_framework_error');
    const bcs = await ledger.api.request({
      method: 'POST',
      url: `${URL}?ledger_version=1533`,
      headers: { 'content-type': VIEW },
      body: '',
    });
    expectError(bcs, 404, 'version_not_found', message);
  });
});

describe('the gas of a call', () => {
  it.each([
    ['symbol', 'a group of the chain, which is remembered', '0xa'],
    ['decimals', 'the same group by another function', '0xa'],
  ])('%s reads %s', async (name, _, metadata) => {
    const call = {
      function: `0x1::fungible_asset::${name}`,
      type_arguments: ['0x1::fungible_asset::Metadata'],
      arguments: [metadata],
    };
    const gas = new Set<unknown>();
    // Only the state of the newest version is cached.
    for (const url of [URL, URL, URL, `${URL}?ledger_version=${NEWEST_VERSION - 1}`]) {
      const reply = await postJson(call, url);
      expect(reply.statusCode).toBe(200);
      gas.add(reply.headers['x-aptos-gas-used']);
    }
    expect([...gas]).toEqual([expect.stringMatching(/^[1-9]\d*$/)]);
  });

  it('counts the whole group of an account each time', async () => {
    const [account] = referenceFile('answers.jsonl')
      .toString()
      .match(/0x[0-9a-f]{64}/g)!;
    const call = { function: '0x1::coin::balance', type_arguments: [APT], arguments: [account] };
    const gas = new Set<unknown>();
    for (let round = 0; round < 3; round += 1) {
      gas.add((await postJson(call)).headers['x-aptos-gas-used']);
    }
    expect(gas.size).toBe(1);
  });
});

describe('the balance of a coin', () => {
  it('is that of the other operation, at all versions', async () => {
    const random = new Random(testSeed('view balances'));
    const accounts = [
      ...new Set(
        referenceFile('answers.jsonl')
          .toString()
          .match(/0x[0-9a-f]{60,64}/g),
      ),
    ];
    for (let round = 0; round < 150; round += 1) {
      const account = random.pick(accounts);
      const at = `ledger_version=${random.below(NEWEST_VERSION + 1)}`;
      const call = { function: '0x1::coin::balance', type_arguments: [APT], arguments: [account] };
      const view = await postJson(call, `${URL}?${at}`);
      const balance = await ledger.api.request(`/v1/accounts/${account}/balance/${APT}?${at}`);
      expect(view.body, account).toBe(`["${balance.body}"]`);
    }
  });
});
