/** A ledger with a few functions, and calls of them to decode. */

import { BinaryFormatError } from '../../src/move/modules/format.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import type { EntryFunction, Script } from '../../src/move/transactions/executable.ts';
import type { TransactionPayload } from '../../src/move/transactions/payload.ts';
import type { TransactionArgument } from '../../src/move/transactions/transaction-argument.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { OLD_FRAMEWORK } from '../move/values/layout-modules.ts';
import { ledgerOf } from './encode-modules.ts';
import { decodeAndEncode, messageOf, rawTransaction, warningCodes } from './signing-bytes.ts';

const ledger = ledgerOf(
  {
    '0x2::m::f': { parameters: ['&signer', 'u8'] },
    '0x2::m::text': { parameters: ['0x1::string::String', 'bool'] },
    '0x2::m::of': { parameters: ['T0', 'vector<T1>'], typeParameters: 2 },
    '0x2::m::hidden': { parameters: [], isEntry: false },
    '0x2::m::unknown': { parameters: ['0x2::gone::S', '&u8', 'u8'] },
    '0x2::m::empties': { parameters: ['vector<0x2::m::Empty>', 'vector<0x2::m::Empty>'] },
  },
  { ...OLD_FRAMEWORK, '0x2::m::Empty': { fields: [] } },
);
/** A module called `broken` never loads. */
export const lookupModule: ModuleLookup = (id) => {
  if (id.name !== 'broken') return ledger(id);
  throw new BinaryFormatError('bad_magic', 'does not load');
};
/** Chain 4, at an unknown time. */
export const context = { chainId: 4, lookupModule };

/** A call of `0x2::m` with arguments in hex. */
export function call(name: string, ...args: readonly string[]): EntryFunction {
  return {
    kind: 'entryFunction',
    module: { address: padAddress('2'), name: 'm' },
    function: name,
    typeArguments: [],
    args: args.map((hex) => Buffer.from(hex, 'hex')),
  };
}

/** A script of code in hex. */
export function script(code: string, ...args: readonly TransactionArgument[]): Script {
  return { kind: 'script', code: Buffer.from(code, 'hex'), typeArguments: [], args };
}

/** Decodes a transaction with this payload: returns the decoded payload, the rest of the request, and the notes. */
export async function payloadOf(payload: TransactionPayload, changes = {}) {
  const again = await decodeAndEncode(messageOf(rawTransaction(payload, changes)), context);
  const { payload: shown, ...rest } = JSON.parse(again.text) as Record<string, unknown>;
  return { shown, rest, codes: warningCodes(again.decoded), notes: again.decoded.notes };
}
