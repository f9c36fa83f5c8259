/** Parts of transactions that do not occur on recorded chains, by docs/spec/transactions.md §2 and §3. */
import { beforeAll, describe, expect, it } from 'vitest';
import { instructionText } from '../../src/execution/instruction-text.ts';
import { vmStatusText } from '../../src/execution/vm-status.ts';
import { Decoding } from '../../src/ledger/transactions/decoding.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { CompiledModule, Instruction } from '../../src/move/modules/compiled.ts';
import { OPCODES } from '../../src/move/modules/opcodes.ts';
import type { ExtraConfig } from '../../src/move/transactions/executable.ts';
import type { TransactionPayload } from '../../src/move/transactions/payload.ts';
import {
  type Transaction,
  TransactionOnChainData,
} from '../../src/move/transactions/transaction.ts';
import type { AggregateSignature } from '../../src/move/transactions/validator-transaction.ts';
import type { WriteSet } from '../../src/move/transactions/write-set.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { YieldBudget } from '../../src/yield-budget.ts';
import { plainChunk } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { TransactionRendering } from './transaction-rendering.ts';

const ONE = padAddress('1');
const BYTES = Buffer.of(0xa0, 0xb1);

let rendering: TransactionRendering;
beforeAll(async () => {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  await writer.append(plainChunk(0, 1));
  rendering = await TransactionRendering.over(store);
});

const NO_WRITES: WriteSet = { kind: 'v0', writes: [] };

/** Everything after the members common to all kinds. */
async function shown(transaction: Transaction, changes = NO_WRITES): Promise<string> {
  const item = TransactionOnChainData.encode({
    version: 5n,
    transaction,
    info: {
      kind: 'v0',
      gasUsed: 0n,
      status: { kind: 'success' },
      transactionHash: Buffer.alloc(32),
      eventRootHash: Buffer.alloc(32),
      stateChangeHash: Buffer.alloc(32),
      stateCheckpointHash: undefined,
      auxiliaryInfoHash: undefined,
    },
    events: [],
    accumulatorRootHash: Buffer.alloc(32),
    changes,
  });
  const text = await rendering.json(item, 9n);
  return text.slice(text.indexOf('"changes":'));
}

describe('validator transactions', () => {
  const signature: AggregateSignature = {
    validatorBitmask: Buffer.of(0xa0, 0x01),
    signature: Buffer.alloc(96, 1),
  };
  const sig = `"signer_indices":[0,2,15],"sig":"0x${'01'.repeat(96)}"`;
  const text = (...parts: string[]) =>
    encodeBcs((writer) => {
      for (const part of parts) writer.string(part);
    });

  it('of an observed key set', async () => {
    const update = (issuer: Buffer, signed = signature): Transaction => ({
      kind: 'validator',
      transaction: {
        kind: 'observedJwkUpdate',
        issuer,
        version: 3n,
        jwks: [
          { typeName: '0x1::jwks::RSA_JWK', data: text('k', 'RSA', 'RS256', 'AQ', 'n"') },
          {
            typeName: '0x1::jwks::UnsupportedJWK',
            data: encodeBcs((writer) => writer.bytes(Buffer.of(1, 2)).bytes(Buffer.of(255))),
          },
          { typeName: '0x1::jwks::Other', data: BYTES },
          { typeName: '0x1::jwks::RSA_JWK', data: BYTES },
        ],
        signature: signed,
      },
    });
    const jwks =
      '[{"kid":"k","kty":"RSA","alg":"RS256","e":"AQ","n":"n\\""},{"id":[1,2],"payload":[255]},' +
      '{"type":"0x1::jwks::Other","data":"0xa0b1"},{"type":"0x1::jwks::RSA_JWK","data":"0xa0b1"}]';
    const rest = (issuer: string, multiSig: string) =>
      '"changes":[],"events":[],"timestamp":"9","quorum_certified_update":{"update":{"issuer":' +
      `"${issuer}","version":3,"jwks":${jwks}},"multi_sig":{${multiSig}}},` +
      '"validator_transaction_type":"observed_jwk_update","type":"validator_transaction"}';
    expect(await shown(update(Buffer.from('https://a')))).toBe(rest('https://a', sig));
    const unsigned = { validatorBitmask: Buffer.of(), signature: undefined };
    expect(await shown(update(Buffer.of(0xff), unsigned))).toBe(
      rest('non_utf8_issuer', '"signer_indices":[],"sig":null'),
    );
  });

  it('of key generation', async () => {
    const transcript = { epoch: 7n, author: padAddress('a1'), transcript: BYTES };
    expect(
      await shown({ kind: 'validator', transaction: { kind: 'dkgResult', ...transcript } }),
    ).toBe(
      '"changes":[],"events":[],"timestamp":"9","dkg_transcript":{"epoch":"7","author":"0xa1",' +
        '"payload":"0xa0b1"},"validator_transaction_type":"dkg_result","type":"validator_transaction"}',
    );
    const chunky = {
      kind: 'chunkyDkgResult',
      ...transcript,
      signature,
      encryptionKey: Buffer.of(0xee),
    } as const;
    expect(await shown({ kind: 'validator', transaction: chunky })).toBe(
      '"changes":[],"events":[],"timestamp":"9","certified_subtrx":{"epoch":"7","author":"0xa1",' +
        `"subtrx":"0xa0b1","signature":{${sig}}},"encryption_key":"0xee",` +
        '"validator_transaction_type":"chunky_d_k_g_result","type":"validator_transaction"}',
    );
  });
});

it('block metadata with extensions', async () => {
  const metadata = {
    id: Buffer.alloc(32, 2),
    epoch: 1n,
    round: 3n,
    proposer: ONE,
    previousBlockVotesBitvec: Buffer.of(128, 1),
    failedProposerIndices: [4, 5],
    timestampUsecs: 6n,
  };
  const rest = (extension: string) =>
    `"changes":[],"id":"0x${'02'.repeat(32)}","epoch":"1","round":"3","events":[],` +
    '"previous_block_votes_bitvec":[128,1],"proposer":"0x1","failed_proposer_indices":[4,5],' +
    `"timestamp":"6"${extension},"type":"block_metadata_transaction"}`;
  const extended = (extension: string) => rest(`,"block_metadata_extension":${extension}`);
  expect(await shown({ kind: 'blockMetadata', metadata })).toBe(rest(''));
  const randomness = { epoch: 1n, round: 2n, bytes: BYTES };
  const kind = 'blockMetadataExt';
  expect(await shown({ kind, metadata: { kind: 'v0', metadata } })).toBe(extended('{"type":"v0"}'));
  expect(await shown({ kind, metadata: { kind: 'v1', metadata, randomness } })).toBe(
    extended('{"randomness":"0xa0b1","type":"v1"}'),
  );
  expect(
    await shown({
      kind,
      metadata: { kind: 'v2', metadata, randomness: undefined, decryptionKey: randomness },
    }),
  ).toBe(extended('{"randomness":null,"decryption_key":"0xa0b1","type":"v2"}'));
});

it('a genesis script, with its arguments by their own kinds', async () => {
  const script = {
    kind: 'script',
    code: BYTES,
    typeArguments: [{ kind: 'u8' }],
    args: [
      { kind: 'u8', value: 1 },
      { kind: 'u64', value: 2n },
      { kind: 'i32', value: -3 },
      { kind: 'i256', value: -4n },
      { kind: 'bool', value: true },
      { kind: 'address', value: ONE },
      { kind: 'u8Vector', value: BYTES },
      { kind: 'serialized', value: BYTES },
    ],
  } as const;
  const payload = { kind: 'script', executeAs: ONE, script } as const;
  expect(await shown({ kind: 'genesis', payload })).toBe(
    '"changes":[],"payload":{"write_set":{"execute_as":"0x1","script":{"code":{"bytecode":"0xa0b1",' +
      '"abi":null},"type_arguments":["u8"],"arguments":[1,"2",-3,"-4",true,"0x1","0xa0b1","0xa0b1"]},' +
      '"type":"script_write_set"},"type":"write_set_payload"},"events":[],"type":"genesis_transaction"}',
  );
});

it('write sets V1: hot keys and extensions show nothing', async () => {
  const key = { kind: 'tableItem', handle: ONE, key: BYTES } as const;
  const write = { key, op: { kind: 'creation', bytes: BYTES, metadata: undefined } } as const;
  const changes: WriteSet = {
    kind: 'v1',
    writes: [write],
    hotness: [key],
    extensions: [{ kind: 'nativePosition', writes: [write] }],
  };
  const direct = { kind: 'direct', writeSet: changes, events: [] } as const;
  const text = await shown({ kind: 'genesis', payload: direct }, changes);
  const hash = '"state_key_hash":"0x[0-9a-f]{64}"';
  const item = `{${hash},"handle":"0x${ONE}","key":"0xa0b1","value":"0xa0b1","data":null,"type":"write_table_item"}`;
  const expected =
    `"changes":[${item}],"payload":{"write_set":{"changes":[${item}],"events":[],` +
    '"type":"direct_write_set"},"type":"write_set_payload"},"events":[],"type":"genesis_transaction"}';
  const hashes = [...text.matchAll(new RegExp(hash, 'g'))].map(([found]) => found);
  expect(text).toBe(expected.replaceAll(hash, hashes[0]!));
  expect(hashes.length).toBe(2);
});

it('requests for higher limits', async () => {
  const multipliers = { executionPercent: 200n, ioPercent: 300n };
  const user = (config: ExtraConfig): Transaction => {
    const payload: TransactionPayload = {
      kind: 'payload',
      executable: { kind: 'empty' },
      extraConfig: config,
    };
    const raw = {
      sender: ONE,
      sequenceNumber: 0xffff_ffff_ffff_ffffn,
      payload,
      maxGasAmount: 0n,
      gasUnitPrice: 0n,
      expirationTimestampSecs: 0n,
      chainId: 1,
    };
    const authenticator = { kind: 'singleSender', sender: { kind: 'noAccount' } } as const;
    return { kind: 'user', transaction: { raw, authenticator } };
  };
  const config = { kind: 'v2', multisigAddress: ONE, replayProtectionNonce: 8n } as const;
  const shares =
    '"multipliers":{"execution_multiplier_percent":"200","io_multiplier_percent":"300"}';
  const pool = '"pool_address":"0x1",';
  for (const [limitsRequest, expected] of [
    [undefined, 'null'],
    [{ kind: 'stakePoolOwner', multipliers }, `{${shares},"type":"stake_pool_owner"}`],
    [
      { kind: 'delegatedVoter', poolAddress: ONE, multipliers },
      `{${pool}${shares},"type":"delegated_voter"}`,
    ],
    [
      { kind: 'delegationPoolDelegator', poolAddress: ONE, multipliers },
      `{${pool}${shares},"type":"delegation_pool_delegator"}`,
    ],
  ] as const) {
    expect(await shown(user({ ...config, limitsRequest }))).toContain(
      `"type":"multisig_payload"},"signature":{"type":"single_sender"},` +
        `"replay_protection_nonce":"8","txn_limits_request":${expected},"events":[]`,
    );
  }
});

describe('execution failures', () => {
  const codeOf = (name: string): number => OPCODES.findIndex((info) => info?.name === name);

  it.each<[string, Partial<Instruction>, string]>([
    ['Abort', {}, 'Abort'],
    ['BrTrue', { operand: 3 }, 'BrTrue(3)'],
    ['LdU64', { operand: 5n }, 'LdU64(5)'],
    ['LdI8', { operand: -5 }, 'LdI8(-5)'],
    ['Call', { operand: 2 }, 'Call(2)'],
    ['CallGeneric', { operand: 2 }, 'CallGeneric(2)'],
    ['Pack', { operand: 1 }, 'Pack(1)'],
    ['UnpackGeneric', { operand: 1 }, 'UnpackGeneric(1)'],
    ['PackVariant', { operand: 1 }, 'PackVariant(1)'],
    ['TestVariantGeneric', { operand: 1 }, 'TestVariantGeneric(1)'],
    ['VecSwap', { operand: 4 }, 'VecSwap(4)'],
    ['VecPack', { operand: 4, count: 2n }, 'VecPack(4, 2)'],
    ['PackClosure', { operand: 4, mask: 5n }, 'PackClosure(4, 101)'],
    ['MutBorrowField', { operand: 6 }, 'MutBorrowField(FieldHandleIndex(6))'],
    ['ImmBorrowFieldGeneric', { operand: 6 }, 'ImmBorrowFieldGeneric(FieldInstantiationIndex(6))'],
    ['ImmBorrowVariantField', { operand: 6 }, 'ImmBorrowVariantField(VariantFieldHandleIndex(6))'],
    [
      'MutBorrowVariantFieldGeneric',
      { operand: 6 },
      'MutBorrowVariantFieldGeneric(VariantFieldInstantiationIndex(6))',
    ],
    ['Exists', { operand: 7 }, 'Exists(StructDefinitionIndex(7))'],
    ['MoveFromGeneric', { operand: 7 }, 'MoveFromGeneric(StructDefInstantiationIndex(7))'],
  ])('on instruction %s', (name, parts, expected) => {
    expect(instructionText({ opcode: codeOf(name), ...parts })).toBe(expected);
  });

  const failure = {
    kind: 'executionFailure',
    location: { kind: 'module', module: { address: ONE, name: 'm' } },
    function: 0,
    codeOffset: 1,
  } as const;
  const module = {
    functionDefinitions: [
      { handle: 0, code: { locals: 0, code: [{ opcode: 1 }, { opcode: codeOf('Add') }] } },
    ],
    functionHandles: [{ name: 0 }],
    identifiers: ['f'],
  } as unknown as CompiledModule;
  const viewOf = (found: CompiledModule | undefined) => ({ lookup: () => found }) as never;
  const within = (found: CompiledModule | undefined) => ({
    newestOf: <T>(decode: (modules: never) => MaybePromise<T | undefined>) => decode(viewOf(found)),
  });

  it.each([
    [module, failure, 'Execution failed in 0x1::m::f (on instruction Add) at code offset 1'],
    [module, { ...failure, codeOffset: 2 }, 'Execution failed in 0x1::m::f at code offset 2'],
    [
      module,
      { ...failure, function: 1 },
      'Execution failed in 0x1::m::<#1 function> at code offset 1',
    ],
    [undefined, failure, 'Execution failed in 0x1::m::<#0 function> at code offset 1'],
  ] as const)('in a function, %#', async (found, status, expected) => {
    expect(await vmStatusText(status, within(found))).toBe(expected);
  });

  it('in a function that was renamed since, which makes the answer one that may change', async () => {
    const renamed = { ...module, identifiers: ['renamed'] } as CompiledModule;
    const decoding = new Decoding(
      7n,
      {} as never,
      viewOf(renamed),
      () => viewOf(module),
      new YieldBudget(),
    );
    expect(await vmStatusText(failure, decoding)).toContain('failed in 0x1::m::renamed (on');
    expect(decoding.isFinal).toBe(false);
  });
});
