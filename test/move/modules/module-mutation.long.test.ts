/** Damaged binaries: whatever the damage, a module either loads or is refused, in time linear in its size. */
import { describe, expect, it } from 'vitest';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { Random, testSeed } from '../../random.ts';
import { survivesAsModule, survivesAsScript } from './damaged-binaries.ts';
import { genesisModules, genesisPresent } from './genesis-modules.ts';
import { fullModule, fullScript, SMALL_MODULE, SMALL_SCRIPT } from './module-samples.ts';
import { writeModule, writeScript } from './write-module.ts';

const SEED = testSeed('module-mutation');

function randomBelow(seed: number): (bound: number) => number {
  const random = new Random(seed);
  return (bound) => random.below(bound);
}

/** One to four changes: flips bits, replaces, removes, repeats or inserts bytes, or truncates. */
function damage(original: Buffer, below: (bound: number) => number): Buffer {
  let bytes = Buffer.from(original);
  for (let left = 1 + below(4); left > 0 && bytes.length > 0; left -= 1) {
    const at = below(bytes.length);
    const end = Math.min(bytes.length, at + 1 + below(8));
    switch (below(6)) {
      case 0:
        bytes[at]! ^= 1 << below(8);
        break;
      case 1:
        bytes[at] = below(256);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
        break;
      case 4:
        bytes[at] = [0x00, 0x01, 0x7f, 0x80, 0xff][below(5)]!;
        break;
      default:
        if (below(4) === 0) bytes = bytes.subarray(0, at);
    }
  }
  return bytes;
}

describe(`damaged binaries (SEED=${SEED})`, () => {
  const versions = [5, 6, 7, 8, 9, 10];
  const modules = [SMALL_MODULE, ...versions.map((version) => writeModule(fullModule(version)))];
  const scripts = [SMALL_SCRIPT, ...versions.map((version) => writeScript(fullScript(version)))];

  it('hand-made modules', () => {
    const below = randomBelow(SEED);
    let loaded = 0;
    for (let run = 0; run < 12_000; run += 1) {
      if (survivesAsModule(damage(modules[below(modules.length)]!, below))) loaded += 1;
    }
    expect(loaded).toBeGreaterThan(0);
  });

  it('hand-made scripts', () => {
    const below = randomBelow(SEED + 1);
    let loaded = 0;
    for (let run = 0; run < 12_000; run += 1) {
      if (survivesAsScript(damage(scripts[below(scripts.length)]!, below))) loaded += 1;
    }
    expect(loaded).toBeGreaterThan(0);
  });

  it('random bytes behind a good header', () => {
    const below = randomBelow(SEED + 2);
    for (let run = 0; run < 20_000; run += 1) {
      const noise = Buffer.from(Array.from({ length: below(60) }, () => below(256)));
      const header = Buffer.from('a11ceb0b00000000', 'hex');
      header[4] = below(12);
      const bytes = Buffer.concat([header, noise]);
      survivesAsModule(bytes);
      survivesAsScript(bytes);
    }
  });

  it('every truncation and every single byte of the small module', () => {
    for (let at = 0; at < SMALL_MODULE.length; at += 1) {
      expect(survivesAsModule(SMALL_MODULE.subarray(0, at))).toBe(false);
      for (let value = 0; value < 256; value += 1) {
        const bytes = Buffer.from(SMALL_MODULE);
        bytes[at] = value;
        survivesAsModule(bytes);
      }
    }
  });

  it.skipIf(!genesisPresent)('real modules (needs ../shared/genesis)', () => {
    const below = randomBelow(SEED + 3);
    const real = [...genesisModules('testnet'), ...genesisModules('devnet')].filter(
      (bytes) => bytes.length < 6000,
    );
    let loaded = 0;
    for (let run = 0; run < 2500; run += 1) {
      if (survivesAsModule(damage(real[below(real.length)]!, below))) loaded += 1;
    }
    expect(loaded).toBeGreaterThan(0);
  });
});

describe('hostile sizes are refused before memory is taken', () => {
  it.each<[string, string]>([
    ['table of 4 GiB', '0107' + '00' + 'ffffffff0f'],
    ['identifier of 255 bytes in 3', '01070003' + 'ff0161'],
    ['constant of 65535 bytes in 5', '01060005' + '02ffff0361'],
    ['65535 instructions in 8 bytes', '010c0008' + '0000000000ffff03'],
  ])('%s', (_, hex) => {
    const bytes = Buffer.from('a11ceb0b0a00000a' + hex + '00', 'hex');
    expect(() => readModule(bytes)).toThrow(BinaryFormatError);
  });
});
