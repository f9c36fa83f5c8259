/** The genesis that the build creates from the default framework (scripts/build-genesis.mjs, docs/spec/genesis.md). */
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { builtFile } from '../../built.ts';
import { type Ed25519Key, mintKey } from './genesis-keys.ts';

export const DEFAULT_CHAIN_ID = 4;

const FILE = builtFile('genesis/default.br');

interface DefaultGenesis {
  /** As in a genesis file: src/ingest/genesis/ reads it, computes its info and begins a ledger with it. */
  readonly transaction: Buffer;
  readonly mintKey: Ed25519Key;
}

/** Takes about 10 ms. @throws the file system's error if the build has not created it */
export function readDefaultGenesis(): DefaultGenesis {
  return { transaction: brotliDecompressSync(readFileSync(FILE)), mintKey: mintKey() };
}
