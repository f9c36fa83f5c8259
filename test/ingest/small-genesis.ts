/** A handmade genesis of a few writes, for tests that do not need a real one. */

import type { ContractEvent } from '../../src/move/transactions/event.ts';
import { Transaction } from '../../src/move/transactions/transaction.ts';
import { validatorSetCodec } from '../../src/move/transactions/waypoint.ts';
import type { WriteSet, WriteSetEntry } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE, padAddress } from '../../src/move/types/address.ts';
import {
  CHAIN_ID_TAG,
  frameworkTag,
  OBJECT_GROUP_TAG,
  VALIDATOR_SET_TAG,
} from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  AccessPathKey,
  moduleStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { chainIdCodec } from '../../src/move/values/framework-resource.ts';
import { NEW_EPOCH_EVENT_TAG } from '../move/values/framework-codecs.ts';

/** The two resources without which there is no waypoint. */
export const NEEDED_WRITES: readonly WriteSetEntry[] = [
  {
    key: resourceStateKey(ADDRESS_ONE, CHAIN_ID_TAG),
    op: { kind: 'creation', bytes: chainIdCodec.encode(7), metadata: undefined },
  },
  {
    key: resourceStateKey(ADDRESS_ONE, VALIDATOR_SET_TAG),
    op: {
      kind: 'modification',
      metadata: undefined,
      bytes: validatorSetCodec.encode({
        consensusScheme: 0,
        active: [validator('a', 1n), validator('b', 0n)],
        pendingInactive: [validator('c', 2n)],
        pendingActive: [validator('d', 3n)],
        totalVotingPower: 20n,
        totalJoiningPower: 0n,
      }),
    },
  },
];

function validator(digits: string, validatorIndex: bigint) {
  return {
    address: padAddress(digits),
    votingPower: 10n,
    consensusKey: Buffer.alloc(48, digits),
    networkAddresses: Buffer.alloc(0),
    fullnodeAddresses: Buffer.alloc(0),
    validatorIndex,
  };
}

function creation(key: WriteSetEntry['key'], bytes: Buffer): WriteSetEntry {
  return { key, op: { kind: 'creation', bytes, metadata: undefined } };
}

/** One write of every kind, several of which do not decode. */
export const ODD_WRITES: readonly WriteSetEntry[] = [
  creation(moduleStateKey(ADDRESS_ONE, 'broken'), Buffer.from('no module')),
  creation(resourceStateKey(ADDRESS_ONE, frameworkTag('no', 'Such')), Buffer.from('??')),
  creation(resourceGroupStateKey(padAddress('a'), OBJECT_GROUP_TAG), Buffer.from('no group')),
  creation(
    resourceGroupStateKey(padAddress('b'), OBJECT_GROUP_TAG),
    encodeResourceGroup([
      { tag: frameworkTag('m', 'A'), data: Buffer.of(1) },
      { tag: frameworkTag('m', 'B'), data: Buffer.of(2) },
    ]),
  ),
  creation(new AccessPathKey(ADDRESS_ONE, Buffer.from([9, 9, 9])), Buffer.of(1)),
  creation({ kind: 'tableItem', handle: ADDRESS_ONE, key: Buffer.of(1) }, Buffer.of(2)),
  creation({ kind: 'raw', bytes: Buffer.of(1) }, Buffer.of(2)),
  {
    key: resourceStateKey(padAddress('f'), frameworkTag('gone', 'Gone')),
    op: { kind: 'deletion', metadata: undefined },
  },
];

export const EVENTS: readonly ContractEvent[] = [
  {
    kind: 'v1',
    key: { creationNumber: 2n, address: ADDRESS_ONE },
    sequenceNumber: 0n,
    typeTag: { kind: 'struct', struct: NEW_EPOCH_EVENT_TAG },
    data: Buffer.from('0100000000000000', 'hex'),
  },
  { kind: 'v2', typeTag: { kind: 'bool' }, data: Buffer.of(1) },
];

/** The file of a genesis with these writes. */
export function genesisFile(
  writes: readonly WriteSetEntry[] = [...NEEDED_WRITES, ...ODD_WRITES],
  events: readonly ContractEvent[] = EVENTS,
): Buffer {
  return genesisFileOf({ kind: 'v0', writes }, events);
}

/** The file of a genesis with this write set. */
export function genesisFileOf(
  writeSet: WriteSet,
  events: readonly ContractEvent[] = EVENTS,
): Buffer {
  return Transaction.encode({ kind: 'genesis', payload: { kind: 'direct', writeSet, events } });
}
