// node bench/more-accounts.mjs DATA ACCOUNTS: adds accounts with a balance of the native coin to a sample ledger, for
// benchmarks that need many. The state is real, but nobody signed its transactions: `verify` rejects it. Use it only
// for temporary ledgers.
import { hash } from 'node:crypto';
import { pairedMetadataAddress, primaryStoreAddress } from '../src/move/types/derived-address.ts';
import {
  ACCOUNT_TAG,
  APTOS_COIN_TAG,
  FUNGIBLE_STORE_TAG,
  OBJECT_CORE_TAG,
  OBJECT_GROUP_TAG,
} from '../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../src/move/types/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../src/move/types/state-key.ts';
import {
  accountCodec,
  fungibleStoreCodec,
  objectCoreCodec,
} from '../src/move/values/framework-resource.ts';
import { frozenRootCount } from '../src/store/columns/head.ts';
import { openView } from '../src/store/read/view.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../src/store/write/writer.ts';

const ACCOUNTS_IN_A_VERSION = 500;
const VERSIONS_IN_A_COMMIT = 20;
const METADATA = pairedMetadataAddress(APTOS_COIN_TAG);

function handleOf(address, creationNumber) {
  return { counter: 0n, key: { creationNumber, address } };
}

function writesOf(address, amount) {
  const account = accountCodec.encode({
    authenticationKey: Buffer.from(address, 'hex'),
    sequenceNumber: 0n,
    guidCreationNumber: 4n,
    coinRegisterEvents: handleOf(address, 0n),
    keyRotationEvents: handleOf(address, 1n),
    rotationCapabilityOffer: undefined,
    signerCapabilityOffer: undefined,
  });
  const store = primaryStoreAddress(address, METADATA);
  const core = objectCoreCodec.encode({
    guidCreationNumber: 2n ** 50n,
    owner: address,
    allowUngatedTransfer: false,
    transferEvents: handleOf(store, 2n ** 50n),
  });
  const balance = fungibleStoreCodec.encode({ metadata: METADATA, balance: amount, frozen: false });
  const group = encodeResourceGroup([
    { tag: OBJECT_CORE_TAG, data: core },
    { tag: FUNGIBLE_STORE_TAG, data: balance },
  ]);
  return [
    { key: physicalStateKey(resourceStateKey(address, ACCOUNT_TAG)), value: account },
    { key: physicalStateKey(resourceGroupStateKey(store, OBJECT_GROUP_TAG)), value: group },
  ];
}

/** A version that creates accounts, numbered from `first`; its transaction is copied from another version. */
function versionOf(first, count, { info, transaction }) {
  const writes = [];
  for (let number = first; number < first + count; number += 1) {
    writes.push(...writesOf(hash('sha256', `account ${number}`), BigInt(1_000_000 + number)));
  }
  return { writes, events: [], info, transaction };
}

/** Adds `count` accounts to the ledger of a data folder. */
async function addAccounts(directory, count) {
  const store = await openSqliteStore({ directory });
  const writer = await LedgerWriter.open(store);
  const view = await openView(store);
  const newest = view.head.version;
  const like = {
    info: await view.transactionInfo(newest),
    transaction: await view.transaction(newest),
  };
  let done = 0;
  while (done < count) {
    const transactions = [];
    while (done < count && transactions.length < VERSIONS_IN_A_COMMIT) {
      const accounts = Math.min(ACCOUNTS_IN_A_VERSION, count - done);
      transactions.push(versionOf(done, accounts, like));
      done += accounts;
    }
    const firstVersion = writer.head.version + 1n;
    const leaves = firstVersion + BigInt(transactions.length);
    const frozenRoots = Array.from({ length: frozenRootCount(leaves) }, () => Buffer.alloc(32));
    await writer.append({ firstVersion, transactions, blocks: [], epochEnds: [], frozenRoots });
    console.error(`${done} accounts`);
  }
  await store.close();
}

const [directory, count] = process.argv.slice(2);
if (directory === undefined || !(Number(count) > 0)) {
  console.error('node bench/more-accounts.mjs DATA ACCOUNTS');
  process.exit(2);
}
await addAccounts(directory, Number(count));
