/** A handmade script. */
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { addressBytes } from './simulation-requests.ts';

/** `fun main(sender: &signer, to: address, amount: u64) { 0x1::aptos_account::transfer(sender, to, amount) }` */
export function transferScript(): Buffer {
  const tables: readonly (readonly [kind: number, content: Buffer])[] = [
    // Module handles, function handles, signatures, identifiers, addresses.
    [1, Buffer.of(0, 0)],
    [3, Buffer.of(0, 1, 0, 1, 0)],
    [5, Buffer.of(3, 6, 12, 5, 3, 0)],
    [7, encodeBcs((writer) => writer.string('aptos_account').string('transfer'))],
    [8, addressBytes(ADDRESS_ONE)],
  ];
  return encodeBcs((writer) => {
    writer.fixed(Buffer.from('a11ceb0b', 'hex')).u32(6).uleb32(tables.length);
    let offset = 0;
    for (const [kind, { length }] of tables) {
      writer.u8(kind).uleb32(offset).uleb32(length);
      offset += length;
    }
    for (const [, content] of tables) writer.fixed(content);
    // No type parameters, parameters, no locals; MoveLoc 0 to 2, Call 0, Ret.
    writer.uleb32(0).uleb32(0).uleb32(1).uleb32(5);
    writer.fixed(Buffer.of(11, 0, 11, 1, 11, 2, 17, 0, 2));
  });
}
