/** Reading, writing and the ABI on every module of three real networks. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { moduleAbi, moduleAbiJson } from '../../../src/move/modules/abi.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { genesisModules, genesisPresent, NETWORKS } from './genesis-modules.ts';
import { writeModule } from './write-module.ts';

interface AbiDigest {
  readonly modules: number;
  readonly bytecodeBytes: number;
  readonly abiSha256: string;
}

const digests: { readonly networks: Readonly<Record<string, AbiDigest>> } = JSON.parse(
  readFileSync(new URL('../../fixtures/abi-digests.json', import.meta.url), 'utf8'),
);

describe.skipIf(!genesisPresent)('real genesis modules (needs ../shared/genesis)', () => {
  it.each(NETWORKS)('%s: every module comes back byte for byte', (network) => {
    const modules = genesisModules(network);
    expect(modules.length).toBe(digests.networks[network]!.modules);
    for (const bytes of modules) {
      const module = readModule(bytes);
      expect(module.version).toBe(network === 'devnet' ? 10 : 5);
      expect(writeModule(module).equals(bytes)).toBe(true);
    }
  });

  it.each(NETWORKS)('%s: ABIs are those of the independent producer', (network) => {
    const modules = genesisModules(network);
    const hash = createHash('sha256');
    let bytecodeBytes = 0;
    for (const bytes of modules) {
      const module = readModule(bytes);
      const json = moduleAbiJson(module);
      expect(JSON.parse(json)).toEqual(moduleAbi(module));
      hash.update(json + '\n');
      bytecodeBytes += bytes.length;
    }
    expect({ modules: modules.length, bytecodeBytes, abiSha256: hash.digest('hex') }).toEqual(
      digests.networks[network],
    );
  });

  it('keeps nothing of the memory it was read from', () => {
    const original = genesisModules('devnet').find((bytes) => readModule(bytes).constants.length)!;
    const reused = Buffer.from(original);
    const module = readModule(reused);
    reused.fill(0xee);
    expect(writeModule(module).equals(original)).toBe(true);
  });
});
