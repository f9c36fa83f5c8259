/** A TransactionOnChainData as JSON, put together from its parts (docs/spec/transactions.md §2.2, §2.3). */

import { EXECUTED, vmStatusText } from '../../execution/vm-status.ts';
import { andThen, eachInOrder, type MaybePromise } from '../../maybe-promise.ts';
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { readHash } from '../../move/bcs/fixed-bytes.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import {
  BlockEpilogue,
  BlockMetadata,
  BlockMetadataExt,
} from '../../move/transactions/block-transaction.ts';
import { Script } from '../../move/transactions/executable.ts';
import { TRANSACTION_KINDS } from '../../move/transactions/transaction.ts';
import { type InfoPlaces, readInfoPlaces } from '../../move/transactions/transaction-info.ts';
import { ValidatorTransaction } from '../../move/transactions/validator-transaction.ts';
import { formatAddress } from '../../move/types/address.ts';
import { writeBlockEnd, writeBlockId, writeExtension, writeProposal } from './block-json.ts';
import { writeGenesisScript } from './call-json.ts';
import { type ChangesContext, readWrites, writeChanges } from './changes-json.ts';
import { readEvents, writeEvents } from './events-json.ts';
import { jsonTo } from './json-parts.ts';
import { type Request, readRequest, writeRequest } from './request-json.ts';
import { writeValidator } from './validator-json.ts';

const U64_BYTES = 8;

export interface TransactionContext extends ChangesContext {
  /** Appended to the outcome. */
  readonly statusSuffix?: string;
  /** A simulated transaction has no `type`, as in the reference. */
  readonly isSimulated?: boolean;
  /** The time of the transaction's block, in microseconds since 1970. */
  readonly timestampUsecs: () => MaybePromise<bigint>;
}

/** Writes the parts after the common members, one after the other. */
type WriteRest = (out: JsonWriter, parts: Parts) => MaybePromise<void>;

interface Parts {
  readonly context: TransactionContext;
  readonly events: () => MaybePromise<void>;
  readonly timestamp: () => MaybePromise<void>;
}

const VERSION = Buffer.from('{"version":');
const HASH = Buffer.from(',"hash":');
const STATE_CHANGE_HASH = Buffer.from(',"state_change_hash":');
const EVENT_ROOT_HASH = Buffer.from(',"event_root_hash":');
const CHECKPOINT_HASH = Buffer.from(',"state_checkpoint_hash":');
const NO_CHECKPOINT_HASH = Buffer.from(',"state_checkpoint_hash":null');
const GAS_USED = Buffer.from(',"gas_used":');
const SUCCESS = Buffer.from(',"success":true,"vm_status":');
const NO_SUCCESS = Buffer.from(',"success":false,"vm_status":');
const ROOT_HASH = Buffer.from(',"accumulator_root_hash":');
const CHANGES = Buffer.from(',"changes":');
const COMMA = Buffer.from(',');
const EVENTS = Buffer.from('"events":');
const TIMESTAMP = Buffer.from('"timestamp":');
const USER_END = Buffer.from(',"type":"user_transaction"}');
const END = Buffer.from('}');
const EXECUTED_JSON = Buffer.from(JSON.stringify(EXECUTED));

/**
 * Writes the JSON of a transaction.
 * @returns the root of the transaction accumulator after this version, 32 bytes
 * @throws BcsError for bytes that are not a TransactionOnChainData
 */
export function writeTransaction(
  out: JsonWriter,
  item: Buffer,
  context: TransactionContext,
): MaybePromise<Buffer> {
  const { decoding } = context;
  const reader = new BcsReader(item);
  const versionAt = reader.skip(U64_BYTES);
  const rest = readRest(out, reader);
  const info = readInfoPlaces(reader);
  const events = readEvents(reader);
  const root = readHash(reader);
  const writes = readWrites(reader);
  const parts: Parts = {
    context,
    events: () => {
      out.part(EVENTS);
      return writeEvents(out, item, events, decoding);
    },
    timestamp: () =>
      andThen(context.timestampUsecs(), (usecs) => {
        out.part(TIMESTAMP);
        out.quotedNumber(usecs);
      }),
  };
  out.part(VERSION);
  out.quotedU64(item, versionAt);
  writeInfo(out, item, info);
  return andThen(vmStatusText(info.status, decoding), (status) => {
    if (status === EXECUTED && context.statusSuffix === undefined) out.part(EXECUTED_JSON);
    else out.text(JSON.stringify(status + (context.statusSuffix ?? '')));
    out.part(ROOT_HASH);
    out.hex(root, 0, HASH_BYTES);
    out.part(CHANGES);
    return andThen(writeChanges(out, item, writes, context), () => {
      out.part(COMMA);
      return andThen(rest(out, parts), () => root);
    });
  });
}

/** Writes the members before the outcome's text. */
function writeInfo(out: JsonWriter, item: Buffer, info: InfoPlaces): void {
  const { hashesAt, checkpointAt, gasUsedAt, status } = info;
  out.part(HASH);
  out.hex(item, hashesAt, hashesAt + HASH_BYTES);
  out.part(STATE_CHANGE_HASH);
  out.hex(item, hashesAt + 2 * HASH_BYTES, hashesAt + 3 * HASH_BYTES);
  out.part(EVENT_ROOT_HASH);
  out.hex(item, hashesAt + HASH_BYTES, hashesAt + 2 * HASH_BYTES);
  if (checkpointAt === undefined) out.part(NO_CHECKPOINT_HASH);
  else {
    out.part(CHECKPOINT_HASH);
    out.hex(item, checkpointAt, checkpointAt + HASH_BYTES);
  }
  out.part(GAS_USED);
  out.quotedU64(item, gasUsedAt);
  out.part(status.kind === 'success' ? SUCCESS : NO_SUCCESS);
}

function readRest(out: JsonWriter, reader: BcsReader): WriteRest {
  switch (TRANSACTION_KINDS[reader.variant(TRANSACTION_KINDS.length, 'Transaction')]!) {
    case 'user': {
      const request = readRequest(out, reader);
      return (_, parts) => writeUser(out, request, parts);
    }
    case 'genesis': {
      const payload = readGenesisPayload(reader);
      return (out, { context, events }) =>
        writeMembers(out, 'genesis_transaction', [() => payload(out, context), events]);
    }
    case 'blockMetadata': {
      const metadata = BlockMetadata.read(reader);
      return (out, { events }) =>
        writeMembers(out, 'block_metadata_transaction', [
          () => writeBlockId(out, metadata),
          events,
          () => writeProposal(out, metadata),
        ]);
    }
    case 'blockMetadataExt': {
      const ext = BlockMetadataExt.read(reader);
      return (out, { events }) =>
        writeMembers(out, 'block_metadata_transaction', [
          () => writeBlockId(out, ext.metadata),
          events,
          () => writeProposal(out, ext.metadata),
          () => writeExtension(out, ext),
        ]);
    }
    case 'stateCheckpoint':
      readHash(reader);
      return (out, { timestamp }) => writeMembers(out, 'state_checkpoint_transaction', [timestamp]);
    case 'validator': {
      const transaction = ValidatorTransaction.read(reader);
      return (out, { events, timestamp }) =>
        writeMembers(out, 'validator_transaction', [
          events,
          timestamp,
          () => writeValidator(out, transaction),
        ]);
    }
    case 'blockEpilogue': {
      const epilogue = BlockEpilogue.read(reader);
      return (out, { timestamp }) =>
        writeMembers(out, 'block_epilogue_transaction', [
          timestamp,
          () => writeBlockEnd(out, epilogue),
        ]);
    }
  }
}

function writeUser(
  out: JsonWriter,
  request: Request,
  { context, events, timestamp }: Parts,
): MaybePromise<void> {
  return andThen(writeRequest(out, request, context.decoding), () => {
    out.part(COMMA);
    return andThen(events(), () => {
      out.part(COMMA);
      return andThen(timestamp(), () => out.part(context.isSimulated === true ? END : USER_END));
    });
  });
}

/** Writes members, the type of the transaction, and the end of the object. */
function writeMembers(
  out: JsonWriter,
  type: string | undefined,
  parts: readonly (() => MaybePromise<void>)[],
): MaybePromise<void> {
  const written = eachInOrder(parts, (part, index) => {
    if (index > 0) out.part(COMMA);
    return part();
  });
  return andThen(written, () => out.units(type === undefined ? '}' : `,"type":"${type}"}`));
}

function readGenesisPayload(
  reader: BcsReader,
): (out: JsonWriter, context: TransactionContext) => MaybePromise<void> {
  if (reader.variant(2, 'WriteSetPayload') === 1) {
    const executeAs = formatAddress(reader.address());
    const script = Script.read(reader);
    return (out) => {
      const json = jsonTo(out);
      json`"payload":{"write_set":{"execute_as":"${executeAs}",`;
      json`"script":${() => writeGenesisScript(out, script)},"type":"script_write_set"},`;
      json`"type":"write_set_payload"}`;
    };
  }
  const writes = readWrites(reader);
  const events = readEvents(reader);
  const item = reader.buffer;
  return (out, context) => {
    out.units('"payload":{"write_set":{"changes":');
    // This write set differs from that of the transaction, so the stored key hashes do not belong to it.
    const own = { ...context, keys: undefined };
    return andThen(writeChanges(out, item, writes, own), () => {
      out.units(',"events":');
      return andThen(writeEvents(out, item, events, context.decoding), () =>
        out.units(',"type":"direct_write_set"},"type":"write_set_payload"}'),
      );
    });
  };
}
