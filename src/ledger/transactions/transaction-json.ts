/** A TransactionOnChainData as JSON, put together from its parts (docs/spec/transactions.md §2.2, §2.3). */

import { vmStatusText } from '../../execution/vm-status.ts';
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { readHash } from '../../move/bcs/fixed-bytes.ts';
import {
  BlockEpilogue,
  BlockMetadata,
  BlockMetadataExt,
} from '../../move/transactions/block-transaction.ts';
import { Script } from '../../move/transactions/executable.ts';
import { TRANSACTION_KINDS } from '../../move/transactions/transaction.ts';
import { TransactionInfo } from '../../move/transactions/transaction-info.ts';
import { ValidatorTransaction } from '../../move/transactions/validator-transaction.ts';
import { blockEndJson, extensionJson, metadataMembers } from './block-json.ts';
import { genesisScriptJson } from './call-json.ts';
import { type ChangesContext, changesJson, readWrites } from './changes-json.ts';
import { eventsJson, readEvents } from './events-json.ts';
import { optionalHex, quoted, quotedAddress, quotedHex } from './json-units.ts';
import { requestMembers } from './request-json.ts';
import { validatorMembers } from './validator-json.ts';

export interface TransactionContext extends ChangesContext {
  /** Shown behind the outcome. */
  readonly statusSuffix?: string;
  /** Then it has no `type`, as in the reference. */
  readonly isSimulated?: boolean;
  /** The time of the transaction's block, in microseconds since 1970. */
  readonly timestampUsecs: () => MaybePromise<bigint>;
}

/** What follows the common members; parts that are made later are asked for in this order. */
type Rest = (parts: Parts) => MaybePromise<string>;

interface Parts {
  readonly context: TransactionContext;
  readonly events: () => MaybePromise<string>;
  readonly timestamp: () => MaybePromise<string>;
}

interface TransactionText {
  /** JSON as UTF-8 units. */
  readonly units: string;
  /** Of the transaction accumulator after this version, 32 bytes. */
  readonly rootHash: Buffer;
}

/** The JSON of a transaction. @throws BcsError for bytes that are not a TransactionOnChainData */
export function transactionJson(
  item: Buffer,
  context: TransactionContext,
): MaybePromise<TransactionText> {
  const { decoding } = context;
  const reader = new BcsReader(item);
  const version = reader.u64();
  const rest = readRest(reader);
  const info = TransactionInfo.read(reader);
  const events = readEvents(reader);
  const rootHash = readHash(reader);
  const writes = readWrites(reader);
  const head =
    `{"version":"${version}","hash":${quotedHex(info.transactionHash)},` +
    `"state_change_hash":${quotedHex(info.stateChangeHash)},` +
    `"event_root_hash":${quotedHex(info.eventRootHash)},` +
    `"state_checkpoint_hash":${optionalHex(info.stateCheckpointHash)},` +
    `"gas_used":"${info.gasUsed}","success":${info.status.kind === 'success'},"vm_status":`;
  const parts: Parts = {
    context,
    events: () => andThen(eventsJson(item, events, decoding), (text) => `"events":${text}`),
    timestamp: () => andThen(context.timestampUsecs(), (usecs) => `"timestamp":"${usecs}"`),
  };
  return andThen(vmStatusText(info.status, decoding), (status) =>
    andThen(changesJson(item, writes, context), (changes) =>
      andThen(rest(parts), (members) => {
        const root = quotedHex(rootHash);
        const shown = quoted(status + (context.statusSuffix ?? ''));
        const units = `${head}${shown},"accumulator_root_hash":${root},"changes":${changes},${members}}`;
        return { units, rootHash };
      }),
    ),
  );
}

function readRest(reader: BcsReader): Rest {
  switch (TRANSACTION_KINDS[reader.variant(TRANSACTION_KINDS.length, 'Transaction')]!) {
    case 'user': {
      const request = requestMembers(reader);
      return ({ context, events, timestamp }) =>
        joined(context.isSimulated === true ? undefined : 'user_transaction', [
          () => request(context.decoding),
          events,
          timestamp,
        ]);
    }
    case 'genesis': {
      const payload = readGenesisPayload(reader);
      return ({ context, events }) =>
        joined('genesis_transaction', [() => payload(context), events]);
    }
    case 'blockMetadata': {
      const [before, after] = metadataMembers(BlockMetadata.read(reader));
      return ({ events }) =>
        joined('block_metadata_transaction', [() => before, events, () => after]);
    }
    case 'blockMetadataExt': {
      const ext = BlockMetadataExt.read(reader);
      const [before, after] = metadataMembers(ext.metadata);
      const last = `${after},"block_metadata_extension":${extensionJson(ext)}`;
      return ({ events }) =>
        joined('block_metadata_transaction', [() => before, events, () => last]);
    }
    case 'stateCheckpoint':
      readHash(reader);
      return ({ timestamp }) => joined('state_checkpoint_transaction', [timestamp]);
    case 'validator': {
      const members = validatorMembers(ValidatorTransaction.read(reader));
      return ({ events, timestamp }) =>
        joined('validator_transaction', [events, timestamp, () => members]);
    }
    case 'blockEpilogue': {
      const end = `"block_end_info":${blockEndJson(BlockEpilogue.read(reader))}`;
      return ({ timestamp }) => joined('block_epilogue_transaction', [timestamp, () => end]);
    }
  }
}

function joined(
  type: string | undefined,
  parts: readonly (() => MaybePromise<string>)[],
): MaybePromise<string> {
  const members = mapInOrder(parts, (part) => part());
  const last = type === undefined ? '' : `,"type":"${type}"`;
  return andThen(members, (texts) => texts.join(',') + last);
}

function readGenesisPayload(
  reader: BcsReader,
): (context: TransactionContext) => MaybePromise<string> {
  if (reader.variant(2, 'WriteSetPayload') === 1) {
    const executeAs = quotedAddress(reader.address());
    const script = genesisScriptJson(Script.read(reader));
    return () =>
      `"payload":{"write_set":{"execute_as":${executeAs},"script":${script},` +
      '"type":"script_write_set"},"type":"write_set_payload"}';
  }
  const writes = readWrites(reader);
  const events = readEvents(reader);
  const item = reader.buffer;
  return (context) =>
    andThen(changesJson(item, writes, context), (changes) =>
      andThen(
        eventsJson(item, events, context.decoding),
        (shown) =>
          `"payload":{"write_set":{"changes":${changes},"events":${shown},` +
          '"type":"direct_write_set"},"type":"write_set_payload"}',
      ),
    );
}
