/** The ledger of a genesis file (its modules, stored values and events), for tests of layouts. */
import { existsSync, readFileSync } from 'node:fs';
import { BcsReader, decodeBcs } from '../../../src/move/bcs/bcs-reader.ts';
import type { CompiledModule } from '../../../src/move/modules/compiled.ts';
import type { ModuleLookup } from '../../../src/move/modules/lookup.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { ContractEvent } from '../../../src/move/transactions/event.ts';
import { WriteSet } from '../../../src/move/transactions/write-set.ts';
import { readStructTag, type StructTag } from '../../../src/move/types/type-tag.ts';

export type Network = 'mainnet' | 'testnet' | 'devnet';

const folder = new URL('../../../../shared/genesis/', import.meta.url);

/** Whether the genesis files exist. */
export const genesisPresent = existsSync(new URL('mainnet.blob', folder));

/** A stored resource or group member. */
export interface StoredValue {
  readonly tag: StructTag;
  readonly bytes: Buffer;
}

export interface GenesisLedger {
  readonly lookup: ModuleLookup;
  readonly moduleCount: number;
  readonly resources: readonly StoredValue[];
  readonly groupMembers: readonly StoredValue[];
  readonly events: readonly ContractEvent[];
}

/** Reads a genesis file (docs/spec/ledger.md §1.1). */
export function readGenesis(network: Network): GenesisLedger {
  const reader = new BcsReader(readFileSync(new URL(`${network}.blob`, folder)));
  reader.fixed(2);
  const { writes } = WriteSet.read(reader);
  const events = reader.vector(ContractEvent.minBytes, ContractEvent.read);
  reader.finish();
  const modules = new Map<string, CompiledModule>();
  const resources: StoredValue[] = [];
  const groupMembers: StoredValue[] = [];
  for (const { key, op } of writes) {
    if (key.kind !== 'accessPath' || op.kind === 'deletion' || key.parsed === undefined) continue;
    if (key.parsed.kind === 'code') {
      const { address, name } = key.parsed.module;
      modules.set(`${address}::${name}`, readModule(op.bytes));
    } else if (key.parsed.kind === 'resource') {
      resources.push({ tag: key.parsed.tag, bytes: op.bytes });
    } else {
      const members = decodeBcs(op.bytes, (inner) =>
        inner.vector(2, () => ({ tag: readStructTag(inner), bytes: inner.bytes() })),
      );
      groupMembers.push(...members);
    }
  }
  const lookup: ModuleLookup = ({ address, name }) => modules.get(`${address}::${name}`);
  return { lookup, moduleCount: modules.size, resources, groupMembers, events };
}
