/**
 * The encoder and its inverse compared with @aptos-labs/ts-sdk 6.3.1 as wallets use it: plain arguments, converted by
 * the ABI. encode-sdk.long.test.ts compares the SDK's BCS classes and all shapes of transactions.
 *
 * Known differences of the SDK: a script inside a multisig (inner index 00 for 01, docs/spec/encode.md §A7), shown
 * below; a text for `vector<u8>`, which it takes for UTF-8 and the API for hex; structs and enums other than String,
 * Option and Object, and references to structs, for which it has no form.
 */
import {
  AccountAddress,
  FeePayerRawTransaction,
  generateSigningMessageForTransaction,
  type MoveModule,
  MoveVector,
  MultiAgentTransaction,
  MultiSig,
  MultiSigTransactionPayload,
  parseTypeTag,
  Script,
  SimpleTransaction,
  TransactionPayloadMultiSig,
  TransactionPayloadScript,
  U8,
  U64,
  U256,
} from '@aptos-labs/ts-sdk';
import { describe, expect, it } from 'vitest';
import { decodeSubmission, encodeSubmission, modulesFrom, readModule } from '../../src/index.ts';
import { moduleAbiJson } from '../../src/move/modules/abi.ts';
import { genesisModules, genesisPresent } from '../move/modules/genesis-modules.ts';
import { Random, testSeed } from '../random.ts';
import { callPayload, randomAddress, randomSdkCall, randomTransaction } from './sdk-abi.ts';

const seed = testSeed('SDK by ABI');
const TRANSACTIONS = 10_000;
const CHAIN_ID = 7;

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

describe.skipIf(!genesisPresent)('calls by ABI on the real genesis (needs ../shared)', () => {
  it.each(['mainnet', 'devnet'] as const)(
    `%s: ${TRANSACTIONS} random calls are the SDK's, and come back, SEED=${seed}`,
    async (network) => {
      const bytes = genesisModules(network);
      const context = { chainId: CHAIN_ID, lookupModule: modulesFrom(bytes) };
      const abis = bytes.map((one) => JSON.parse(moduleAbiJson(readModule(one))!) as MoveModule);
      const functions = abis.flatMap((abi) =>
        abi.exposed_functions.filter((one) => one.is_entry).map(({ name }) => ({ abi, name })),
      );
      const random = new Random(seed);
      const left = new Set<string>();
      for (let done = 0, turn = 0; done < TRANSACTIONS; turn += 1) {
        const { abi, name } = functions[turn % functions.length]!;
        const call = randomSdkCall(abi, name, random);
        if (call === undefined) {
          left.add(`${abi.name}::${name}`);
          continue;
        }
        done += 1;
        const { raw, fields } = randomTransaction(callPayload(call), random);
        const expected = hex(generateSigningMessageForTransaction(new SimpleTransaction(raw)));
        const request = { ...fields, payload: call.payload };
        const message = await encodeSubmission(request, context);
        if (hex(message) !== expected) {
          expect(hex(message), JSON.stringify(request)).toBe(expected);
        }
        const decoded = await decodeSubmission(message, context);
        if (!decoded.notes.encodesBack || decoded.notes.warnings.length > 0) {
          expect(decoded.notes, JSON.stringify(request)).toMatchObject({ warnings: [] });
        }
      }
      // Those with a reference to a struct, which cannot be called, or with a struct for which the SDK has no form.
      expect(left.size / functions.length).toBeLessThan(0.1);
    },
    60_000,
  );
});

const CODE = Buffer.from('c0de', 'hex');
const ABI = {
  name: 'main',
  visibility: 'public',
  is_entry: true,
  is_view: false,
  generic_type_params: [],
  params: ['u8', 'u64', 'u256', 'address', 'vector<u8>'],
  return: [],
} as const;
const context = { chainId: CHAIN_ID, lookupModule: () => undefined };

function randomScript(random: Random) {
  const integer = (bits: number) => BigInt(`0x${random.bytes(bits / 8).toString('hex')}`);
  const [small, middle, large] = [random.below(256), integer(64), integer(256)];
  const address = `0x${random.bytes(32).toString('hex')}`;
  const bytes = random.bytes(random.below(200));
  const script = new Script(
    CODE,
    [parseTypeTag('vector<u8>')],
    [
      new U8(small),
      new U64(middle),
      new U256(large),
      AccountAddress.from(address),
      MoveVector.U8(bytes),
    ],
  );
  const payload = {
    type: 'script_payload',
    code: { bytecode: hex(CODE), abi: ABI },
    type_arguments: ['vector<u8>'],
    arguments: [small, String(middle), String(large), address, hex(bytes)],
  } as const;
  return { script, payload };
}

describe('scripts', () => {
  it(`random arguments give the SDK's bytes, SEED=${seed}`, async () => {
    const random = new Random(seed);
    for (let turn = 0; turn < 300; turn += 1) {
      const { script, payload } = randomScript(random);
      const signers = Array.from({ length: random.below(3) }, () => randomAddress(random));
      const { raw, fields } = randomTransaction(new TransactionPayloadScript(script), random);
      const accounts = signers.map((text) => AccountAddress.from(text, { maxMissingChars: 63 }));
      const transaction = new MultiAgentTransaction(raw, accounts);
      const expected = hex(generateSigningMessageForTransaction(transaction));
      const request = { ...fields, payload, secondary_signers: signers };
      const message = await encodeSubmission(request, context);
      expect(hex(message)).toBe(expected);
      expect((await decodeSubmission(expected, context)).notes.encodesBack).toBe(true);
    }
  });

  it('inside a multisig: the SDK writes the index of an entry function, 00 (docs/spec/encode.md §A7)', async () => {
    const { script, payload } = randomScript(new Random(seed));
    const account = AccountAddress.from('0xa');
    const inner = new MultiSigTransactionPayload(script as never);
    const multisig = new TransactionPayloadMultiSig(new MultiSig(account, inner));
    const { raw, fields } = randomTransaction(multisig, new Random(seed));
    const theirs = hex(generateSigningMessageForTransaction(new SimpleTransaction(raw)));
    const ours = await encodeSubmission(
      {
        ...fields,
        payload: {
          type: 'multisig_payload',
          multisig_address: '0xa',
          transaction_payload: payload,
        },
      },
      context,
    );
    // Domain, sender, sequence number, variant, multisig address, option.
    const at = 2 * (32 + 32 + 8 + 1 + 32 + 1);
    expect([theirs.slice(at, at + 2), hex(ours).slice(at, at + 2)]).toEqual(['00', '01']);
    expect(`${theirs.slice(0, at)}01${theirs.slice(at + 2)}`).toBe(hex(ours));
    expect((await decodeSubmission(ours, context)).notes.encodesBack).toBe(true);
  });
});

describe('fee payers, whom only the SDK writes', () => {
  it.each(['0xfee', '0x0'])('%s is shown', async (payer) => {
    const random = new Random(seed);
    const { script } = randomScript(random);
    const { raw } = randomTransaction(new TransactionPayloadScript(script), random);
    const feePayer = AccountAddress.from(payer, { maxMissingChars: 63 });
    const transaction = new SimpleTransaction(raw, feePayer);
    const message = generateSigningMessageForTransaction(transaction);
    expect(hex(message).slice(64)).toBe(
      hex(new FeePayerRawTransaction(raw, [], feePayer).bcsToBytes()),
    );
    const { request, notes } = await decodeSubmission(message, context);
    expect(notes).toMatchObject({ scheme: 'fee_payer', encodesBack: false });
    expect(BigInt(`0x${notes.feePayer}`)).toBe(BigInt(payer));
    expect(request['secondary_signers']).toEqual([]);
  });
});
