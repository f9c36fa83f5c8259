/** State keys that are longer than a row of known keys. */
import { physicalStateKey, resourceStateKey } from '../../src/move/types/state-key.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { address, tag } from '../store/chunks.ts';

/** A key of three segments: two that an account's keys share, and one with the name. */
function longKey(account: number, name: string): Buffer {
  const parts = [...new Array<string>(8).fill('n'.repeat(220)), name];
  const typeArguments = parts.map((part) => ({ kind: 'struct', struct: tag(part) }) as const);
  return physicalStateKey(resourceStateKey(address(account), { ...tag('t'), typeArguments }));
}

/** Writes a long key of one account for each name, and one of an account that has no other. */
export function withKeys(chunk: Chunk, names: readonly string[]): Chunk {
  const [first, ...others] = chunk.transactions;
  const ofOthers = longKey(1_000 + Number(chunk.firstVersion), 'c');
  const keys = [...names.map((name) => longKey(7, name)), ofOthers];
  const writes = [...first!.writes, ...keys.map((key) => ({ key, value: Buffer.of(1) }))];
  const { events, info, transaction } = first!;
  return { ...chunk, transactions: [{ writes, events, info, transaction }, ...others] };
}
