/** Reports of a local network about the tests that ran on it: gas by function, and code coverage of their modules. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assembleText } from '../../bench/bulk-ledger/framework/framework.ts';
import { GasReport, MAX_REPORTED_FUNCTIONS } from '../../src/chain/gas-report.ts';
import { signedCall } from '../../src/chain/signed-call.ts';
import { CoverageRecorder, MAX_COVERED_MODULES } from '../../src/execution/coverage-recorder.ts';
import type { TransactionOutput } from '../../src/execution/execute.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { CodecValue } from '../../src/move/bcs/codec.ts';
import { DEFAULT_LOADER_LIMITS } from '../../src/move/modules/compiled.ts';
import { loadModule } from '../../src/move/modules/read.ts';
import { SourceMap } from '../../src/move/modules/source-map.ts';
import type { EntryFunction } from '../../src/move/transactions/executable.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { sourceFiles } from '../../src/node/localnet/coverage/lcov.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { Client, nowSecs } from './localnet-client.ts';

/** The source is not compiled: its source map is built here. */
const SOURCE = `module own::counter {
  fun bump(by: u64) {
    if (by == 0) {
      abort 7
    };
    let sum = by + 1;
  }
  fun unused() {}
}
`;
const MODULE = `module own::counter {
  public entry fun bump(by: u64) {
    CopyLoc by; LdU64 0; Eq; BrFalse go;
    LdU64 7; Abort;
  go: MoveLoc by; LdU64 1; Add; Pop; Ret;
  }
  #[view]
  public fun seven(): u64 { LdU64 7; Ret; }
  fun unused() { Ret; }
}`;
/** Lines of bump's code, by their first instruction. */
const LINES = [
  [0, 3],
  [4, 4],
  [6, 6],
  [10, 7],
] as const;

const folder = mkdtempSync(join(tmpdir(), 'daybook-reports-'));
let net: Localnet;
let client: Client;
let sequenceNumber = 0n;
beforeAll(async () => {
  net = await startLocalnet({ accounts: 1, coverage: true });
  client = new Client(net);
});
afterAll(async () => {
  await net.stop();
  rmSync(folder, { recursive: true });
});

/** Position of a line in the source. */
function placeOf(line: number): CodecValue<typeof SourceMap>['place'] {
  const start =
    SOURCE.split('\n')
      .slice(0, line - 1)
      .join('\n').length + (line === 1 ? 0 : 1);
  return { file: createHash('sha256').update(SOURCE).digest(), start, end: start + 1 };
}

function sourceMap(): Buffer {
  const about = { typeParameters: [], parameters: [], locals: [], nops: [], isNative: false };
  const functions = [
    { place: placeOf(2), code: LINES.map(([offset, line]) => ({ offset, place: placeOf(line) })) },
    { place: placeOf(8), code: [] },
    { place: placeOf(8), code: [{ offset: 0, place: placeOf(8) }] },
  ];
  return SourceMap.encode({
    ...{ place: placeOf(1), module: undefined, structs: [], constants: [] },
    functions: functions.map((one, definition) => ({ definition, value: { ...about, ...one } })),
  });
}

/** @param isWithSource whether the package contains the source */
function publication(isWithSource: boolean): EntryFunction {
  const [own] = net.accounts;
  const [module] = assembleText(MODULE, new Map([['own', own!.address]]));
  const none = Buffer.alloc(0);
  const metadata = encodeBcs((to) => {
    to.string('counters').u8(1).u64(0n).string('').bytes(none).uleb32(1);
    to.string('counter').bytes(isWithSource ? gzipSync(SOURCE) : none);
    to.bytes(gzipSync(sourceMap())).u8(0).uleb32(0).u8(0);
  });
  return {
    ...{ kind: 'entryFunction', module: { address: ADDRESS_ONE, name: 'code' } },
    ...{ function: 'publish_package_txn', typeArguments: [] },
    args: [
      encodeBcs((to) => to.bytes(metadata)),
      encodeBcs((to) => to.vector([module!.bytes], (inner, bytes) => inner.bytes(bytes))),
    ],
  };
}

const bump = (by: bigint): EntryFunction => ({
  ...{ kind: 'entryFunction', module: { address: net.accounts[0]!.address, name: 'counter' } },
  ...{ function: 'bump', typeArguments: [], args: [encodeBcs((to) => to.u64(by))] },
});

async function send(call: EntryFunction): Promise<number> {
  const { address: sender, key } = net.accounts[0]!;
  const signed = signedCall({
    ...{ sender, key, call, replay: { sequenceNumber }, chainId: net.chainId },
    ...{ maxGasAmount: 200_000n, gasUnitPrice: 100n },
    expirationTimestampSecs: nowSecs() + 60n,
  });
  sequenceNumber += 1n;
  const { body } = await client.submit(signed);
  const { body: done } = await client.wait((body as { hash: string }).hash);
  return Number(done['gas_used']);
}

describe('reports of a local network', () => {
  it('say what transactions cost and which code has run', async () => {
    const own = `0x${net.accounts[0]!.address.replace(/^0+/, '')}`;
    await net.fund(`0x${net.accounts[0]!.address}`, 5n);
    const published = await send(publication(true));
    const costs = [await send(bump(1n)), await send(bump(2n)), await send(bump(3n))];
    const reverted = await net.snapshot();
    costs.push(await send(bump(4n)));
    await net.revert(reverted);
    sequenceNumber -= 1n;
    expect(net.gasReport()).toEqual([
      {
        ...{ function: '0x1::code::publish_package_txn', calls: 1, failed: 0 },
        ...{ min: published, median: published, max: published, average: published },
      },
      {
        ...{ function: `${own}::counter::bump`, calls: 4, failed: 0 },
        ...{ min: Math.min(...costs), max: Math.max(...costs) },
        median:
          costs
            .toSorted((a, b) => a - b)
            .slice(1, 3)
            .reduce((a, b) => a + b) / 2,
        average: Math.round(costs.reduce((a, b) => a + b) / 4),
      },
    ]);
    const before = await net.writeCoverage(folder);
    expect(before).toContain(`${own}::counter  instructions 9/14 64.2 %  branches 1/2 50.0 %\n`);
    expect(before).toContain(
      '  unused  instructions 0/1 0.0 %  branches 0/0 100.0 %  not done: 0\n',
    );
    await send(bump(0n));
    expect(net.gasReport()[1]).toMatchObject({ calls: 4, failed: 1 });
    const name = `${own}::counter::seven`;
    const body = JSON.stringify({ function: name, type_arguments: [], arguments: [] });
    expect((await client.post('/view', body)).body).toEqual(['7']);
    const text = await net.writeCoverage(folder);
    expect(readFileSync(join(folder, 'coverage.txt'), 'utf8')).toBe(text);
    expect(text).toContain('  bump  instructions 11/11 100.0 %  branches 2/2 100.0 %\n');
    expect(text).toContain('  seven  instructions 2/2 100.0 %  branches 0/0 100.0 %\n');
    expect(text).toMatch(/\nall modules {2}instructions 13\/14 92.8 % {2}branches 2\/2 100.0 %\n$/);
  });

  it('are by lines of the source that the source map is of', async () => {
    const lcov = () => readFileSync(join(folder, 'lcov.info'), 'utf8');
    const own = `0x${net.accounts[0]!.address.replace(/^0+/, '')}`;
    const kept = join(folder, 'sources', own, 'counter.move');
    expect(readFileSync(kept, 'utf8')).toBe(SOURCE);
    expect(lcov().split('\n')).toEqual([
      ...['TN:', `SF:${kept}`, 'FN:2,bump', 'FN:8,seven', 'FN:8,unused'],
      ...['FNDA:5,bump', 'FNDA:1,seven', 'FNDA:0,unused', 'FNF:3', 'FNH:2'],
      ...['BRDA:3,3,0,4', 'BRDA:3,3,1,1', 'BRF:2', 'BRH:2'],
      ...['DA:3,5', 'DA:4,1', 'DA:6,4', 'DA:7,4', 'DA:8,0', 'LF:5', 'LH:4', 'end_of_record', ''],
    ]);
    // Without a source in the package, a folder is searched for one with its hash.
    await send(publication(false));
    await net.writeCoverage(folder);
    expect(lcov()).toBe('');
    const sources = mkdtempSync(join(tmpdir(), 'daybook-sources-'));
    writeFileSync(join(sources, 'other.move'), `${SOURCE}\n`);
    await net.writeCoverage(folder, sources);
    expect(lcov()).toBe('');
    writeFileSync(join(sources, 'own.move'), SOURCE);
    await net.writeCoverage(folder, sources);
    expect(lcov()).toContain(`SF:${join(sources, 'own.move')}\n`);
    rmSync(sources, { recursive: true });
  });

  it('are refused by a network that has not counted', async () => {
    const other = await startLocalnet({ accounts: 0 });
    await expect(other.writeCoverage(folder)).rejects.toMatchObject({ code: 'bad_setting' });
    expect(other.gasReport()).toEqual([]);
    await other.stop();
  });
});

describe('limits of reports', () => {
  it('functions of a gas report', () => {
    const report = new GasReport();
    const output = { status: { kind: 'success' }, gasUsed: 1n } as TransactionOutput;
    const { module } = bump(0n);
    for (let index = 0; index <= MAX_REPORTED_FUNCTIONS; index += 1) {
      const payload = { ...bump(0n), module, function: `f${index}` };
      report.record({ raw: { payload } } as never, output);
      const expected = Math.min(index + 1, MAX_REPORTED_FUNCTIONS);
      if (index >= MAX_REPORTED_FUNCTIONS - 2) expect(report.rows()).toHaveLength(expected);
    }
  });

  it('entries that are looked at for sources', () => {
    const sources = mkdtempSync(join(tmpdir(), 'daybook-sources-'));
    mkdirSync(join(sources, 'a'));
    writeFileSync(join(sources, 'a', 'b.move'), 'b');
    writeFileSync(join(sources, 'c.txt'), '');
    for (const [maxEntries, count] of [
      [2, 0],
      [3, 1],
      [4, 1],
    ] as const) {
      expect(sourceFiles(sources, maxEntries).size).toBe(count);
    }
    expect(() => sourceFiles(join(sources, 'none'))).toThrow('ENOENT');
    rmSync(sources, { recursive: true });
  });

  it('modules of a coverage', () => {
    const [assembled] = assembleText(MODULE, new Map([['own', 'f'.repeat(64)]]));
    const module = loadModule(assembled!.bytes, DEFAULT_LOADER_LIMITS);
    const recorder = new CoverageRecorder();
    for (let index = 0; index <= MAX_COVERED_MODULES; index += 1) {
      const addresses = module.addresses.map(() => (index + 256).toString(16).padStart(64, '0'));
      const added = recorder.add({ ...module, addresses });
      expect(added === undefined).toBe(index === MAX_COVERED_MODULES);
    }
    expect(recorder.modules).toHaveLength(MAX_COVERED_MODULES);
  });
});
