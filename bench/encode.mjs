// Encoding in process compared with @aptos-labs/ts-sdk, in turns: the same transactions, and the ABI known to both. The
// modules come from a ledger on disk, through the ledger's own lookup.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AccountAddress,
  ChainId,
  EntryFunction,
  generateSigningMessageForTransaction,
  generateTransactionPayloadWithABI,
  parseTypeTag,
  RawTransaction,
  SimpleTransaction,
  TransactionPayloadEntryFunction,
  TypeTagAddress,
  TypeTagU64,
  U64,
} from '@aptos-labs/ts-sdk';
import { prepareLedger } from './prepare-ledger.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'encode';
export const title = 'Encoding in process: transactions/s beside @aptos-labs/ts-sdk';

/** Number of different transactions of each kind. */
const TRANSACTIONS = 2_000;
const CHAIN_ID = 4;
const GAS = { max_gas_amount: '2000', gas_unit_price: '100' };
const EXPIRATION_SECS = 1_893_456_000;

const KINDS = [
  { operation: 'two arguments', function: '0x1::aptos_account::transfer', typeArguments: [] },
  {
    operation: 'one type argument',
    function: '0x1::coin::transfer',
    typeArguments: ['0x1::aptos_coin::AptosCoin'],
  },
];

/** A transaction in the forms that the sides take. */
function transactionOf(kind, index) {
  const digits = index.toString(16).padStart(8, '0').repeat(8);
  const recipient = `0x${digits}`;
  const sender = `0x${[...digits].toReversed().join('')}`;
  const amount = 1_000_000 + index;
  const object = {
    sender,
    sequence_number: String(index),
    ...GAS,
    expiration_timestamp_secs: String(EXPIRATION_SECS),
    payload: {
      type: 'entry_function_payload',
      function: kind.function,
      type_arguments: kind.typeArguments,
      arguments: [recipient, String(amount)],
    },
  };
  return { index, sender, recipient, amount, object, json: Buffer.from(JSON.stringify(object)) };
}

function sdkMessage({ index, sender }, payload) {
  const raw = new RawTransaction(
    AccountAddress.from(sender),
    BigInt(index),
    payload,
    BigInt(GAS.max_gas_amount),
    BigInt(GAS.gas_unit_price),
    BigInt(EXPIRATION_SECS),
    new ChainId(CHAIN_ID),
  );
  return generateSigningMessageForTransaction(new SimpleTransaction(raw));
}

/** The ways to encode a transaction, as functions of it. */
function ways(kind, context, encodeJson, encodeObject) {
  const [address, module, functionName] = kind.function.split('::');
  const abi = {
    signers: 1,
    typeParameters: kind.typeArguments.map(() => ({ constraints: [] })),
    parameters: [new TypeTagAddress(), new TypeTagU64()],
  };
  return {
    json: (one) => encodeJson(one.json, context),
    object: (one) => encodeObject(one.object, context),
    sdk: (one) =>
      sdkMessage(
        one,
        generateTransactionPayloadWithABI({
          function: kind.function,
          typeArguments: kind.typeArguments,
          functionArguments: [one.recipient, one.amount],
          abi,
        }),
      ),
    sdkClasses: (one) =>
      sdkMessage(
        one,
        new TransactionPayloadEntryFunction(
          EntryFunction.build(
            `${address}::${module}`,
            functionName,
            kind.typeArguments.map((text) => parseTypeTag(text)),
            [AccountAddress.from(one.recipient), new U64(one.amount)],
          ),
        ),
      ),
  };
}

/** Transactions per second of one way, repeated for `seconds`. */
async function rate(way, transactions, seconds) {
  const start = performance.now();
  const end = start + seconds * 1000;
  let done = 0;
  do {
    for (const one of transactions) await way(one);
    done += transactions.length;
  } while (performance.now() < end);
  return done / ((performance.now() - start) / 1000);
}

async function checkEqual(all, transactions) {
  for (const one of transactions) {
    const expected = Buffer.from(await all.sdk(one));
    for (const [name, way] of Object.entries(all)) {
      if (!expected.equals(await way(one))) throw new Error(`${name} gives other bytes`);
    }
  }
}

async function measure(kind, lookupModule, modules, { rounds, seconds, log }) {
  const transactions = Array.from({ length: TRANSACTIONS }, (_, index) =>
    transactionOf(kind, index),
  );
  const context = { chainId: CHAIN_ID, lookupModule };
  const all = ways(kind, context, modules.encodeJson, modules.encodeObject);
  await checkEqual(all, transactions);
  const rates = Object.fromEntries(Object.keys(all).map((way) => [way, []]));
  // Each way warms up for a third of a round: the optimizing compiler has to see all of them before any is measured.
  for (const way of Object.values(all)) await rate(way, transactions, seconds / 3);
  for (let round = 0; round < rounds; round += 1) {
    for (const [way, encode] of Object.entries(all)) {
      rates[way].push(await rate(encode, transactions, seconds / 4));
    }
  }
  const result = {
    operation: kind.operation,
    function: kind.function,
    differentTransactions: TRANSACTIONS,
    transactionsPerSecond: Object.fromEntries(
      Object.entries(rates).map(([way, values]) => [way, summary(values)]),
    ),
    ratioToSdk: {
      json: ratioSummary(rates.json, rates.sdk),
      object: ratioSummary(rates.object, rates.sdk),
    },
    ratioToSdkClasses: {
      json: ratioSummary(rates.json, rates.sdkClasses),
      object: ratioSummary(rates.object, rates.sdkClasses),
    },
  };
  log(`${kind.operation}:`);
  for (const [way, values] of Object.entries(rates)) {
    log(`  ${SHOWN_WAYS[way].padEnd(34)} ${shownSummary(summary(values))} transactions/s`);
  }
  log(`  from JSON, beside the SDK          ${shownSummary(result.ratioToSdk.json)} times`);
  log(`  from an object, beside the SDK     ${shownSummary(result.ratioToSdk.object)} times`);
  return result;
}

const SHOWN_WAYS = {
  json: 'Daybook, from JSON bytes',
  object: 'Daybook, from an object',
  sdk: 'SDK, from values with an ABI',
  sdkClasses: "SDK, from its classes' objects",
};

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const { encodeSubmission: encodeJson } = await import('../src/submission/encode/index.ts');
  const { encodeSubmission: encodeObject } = await import('../src/index.ts');
  const { openLedger } = await import('../src/ledger/open.ts');
  const { openSqliteReader } = await import('../src/store/sqlite/sqlite-store.ts');
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const store = openSqliteReader({ directory: await prepareLedger(folder) });
    try {
      const { lookupModule } = await openLedger(store).view();
      const results = [];
      for (const kind of KINDS) {
        results.push(await measure(kind, lookupModule, { encodeJson, encodeObject }, options));
      }
      return { results };
    } finally {
      await store.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
