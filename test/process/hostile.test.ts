/**
 * Input designed to take memory or time: genesis files, modules and requests. None may take more than 64 MB above its
 * size, as measured by the operating system and with a small heap.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_GENESIS_BYTES, MAX_GENESIS_ITEMS } from '../../src/ingest/genesis/genesis.ts';
import { BcsWriter } from '../../src/move/bcs/bcs-writer.ts';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import type { WriteSetEntry } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { moduleStateKey } from '../../src/move/types/state-key.ts';
import { smallGenesisFile } from '../api/genesis-small.ts';
import { genesisFile, NEEDED_WRITES } from '../ingest/small-genesis.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { moduleLookup } from '../move/values/layout-modules.ts';
import { Random, someOf, testSeed } from '../random.ts';
import { killLeftNodes, runCommand, ServedNode, temporaryFolder } from './command.ts';

const MB = 1024 * 1024;
/** Memory that an input may take beyond its own size, in bytes. */
const ALLOWANCE_BYTES = 64 * MB;
/** Only Linux reports the peak. */
const canMeasure = existsSync('/proc/self/status');

const folder = temporaryFolder();
afterAll(killLeftNodes);

function peakOf(status: string): number {
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
}

/** Runs `init` on a file and returns the peak of its resident memory in bytes. */
async function initPeak(file: Uint8Array): Promise<{ code: number | null; peakBytes: number }> {
  const genesis = join(folder, 'hostile.blob');
  const statusFile = join(folder, 'status');
  const data = join(folder, 'ledger-of-hostile');
  writeFileSync(genesis, file);
  const watcher = encodeURIComponent(
    `import{readFileSync as r,writeFileSync as w}from'node:fs';` +
      `process.on('exit',()=>w(process.env.STATUS_FILE,r('/proc/self/status')))`,
  );
  const result = await runCommand(['init', '--data', data, '--genesis', genesis], {
    environment: {
      NODE_OPTIONS: `--import=data:text/javascript,${watcher}`,
      STATUS_FILE: statusFile,
    },
  });
  expect(result.signal).toBeNull();
  if (result.code !== 0) expect(result.stderr).toMatch(/^daybook: [^\n]+\n$/);
  rmSync(data, { recursive: true, force: true });
  return { code: result.code, peakBytes: peakOf(readFileSync(statusFile, 'utf8')) };
}

/** A genesis with `count` writes of raw keys, each of one byte. */
function manyWrites(count: number): Buffer {
  const writes = Array.from({ length: count }, (_, index): WriteSetEntry => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(index);
    return {
      key: { kind: 'raw', bytes },
      op: { kind: 'creation', bytes: Buffer.of(1), metadata: undefined },
    };
  });
  return genesisFile([...NEEDED_WRITES, ...writes], []);
}

/** The head of a genesis, followed by events without stream and data. */
function manyEvents(count: number): Buffer {
  const writer = new BcsWriter().fixed(Buffer.from([1, 0, 0, 0])).length32(count);
  for (let index = 0; index < count; index += 1) writer.fixed(Buffer.from([1, 0, 0]));
  return writer.toBytes();
}

/** A node whose heap has room for its own needs and 64 MB: more live memory ends it. */
function startOnSmallHeap(data: string): Promise<ServedNode> {
  const environment = { NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=2' };
  return ServedNode.start(data, [], { environment });
}

describe.skipIf(!canMeasure)('genesis files (needs /proc to measure)', () => {
  const random = new Random(testSeed('hostile genesis'));
  const noise = Buffer.from(Array.from({ length: 4096 }, () => random.below(256)));
  const head = Buffer.from([1, 0, 0]);
  /** Invalid genesis files take little memory; valid ones also need room for their commit. */
  const COMMIT_BYTES = 192 * MB;
  const files: readonly (readonly [string, () => Buffer, code: number])[] = [
    ['as many writes as may be', () => manyWrites(MAX_GENESIS_ITEMS - NEEDED_WRITES.length), 0],
    ['zeros', () => Buffer.alloc(MAX_GENESIS_BYTES), 1],
    ['noise', () => Buffer.concat([head, Buffer.alloc(4 * MB, noise)]), 1],
    [
      'more writes declared than there are bytes',
      () => Buffer.concat([head, Buffer.from('ffffffff07', 'hex'), Buffer.alloc(4 * MB)]),
      1,
    ],
    ['as many events as may be and no validators', () => manyEvents(MAX_GENESIS_ITEMS), 1],
    ['an event more', () => manyEvents(MAX_GENESIS_ITEMS + 1), 1],
    ['a write more', () => manyWrites(MAX_GENESIS_ITEMS - NEEDED_WRITES.length + 1), 1],
  ];
  let baseBytes: number;
  beforeAll(async () => {
    baseBytes = (await initPeak(smallGenesisFile())).peakBytes;
  });

  it.each(someOf(files, 4))('%s', async (_, make, expectedCode) => {
    const file = make();
    const { code, peakBytes } = await initPeak(file);
    expect(code).toBe(expectedCode);
    const commitBytes = code === 0 ? COMMIT_BYTES : 0;
    expect(peakBytes - baseBytes).toBeLessThan(file.length + ALLOWANCE_BYTES + commitBytes);
  });
});

describe('modules', () => {
  const source = moduleLookup({
    [`0x1::${'m'.repeat(250)}::${'S'.repeat(250)}`]: { fields: [['field', 'u64']] },
  });
  const base = source({ address: ADDRESS_ONE, name: 'm'.repeat(250) }) as CompiledModule;

  /** Functions with 255 parameters each of a struct with a long name: 130 KB of text for a few bytes. */
  function manyParameters(functions: number): Buffer {
    const token = { kind: 'struct', handle: 0, instantiated: false, typeArguments: [] } as const;
    return writeModule({
      ...base,
      signatures: [[], Array.from({ length: 255 }, () => token)],
      functionHandles: Array.from({ length: functions }, () => ({
        module: 0,
        name: 0,
        parameters: 1,
        return: 0,
        typeParameters: [],
        attributes: [],
      })),
      functionDefinitions: Array.from({ length: functions }, (_, handle) => ({
        handle,
        visibility: 'public' as const,
        isEntry: true,
        isNative: true,
        acquires: [],
      })),
    });
  }

  const large = manyParameters(60_000);
  const random = new Random(testSeed('hostile modules'));
  const modules: readonly (readonly [name: string, bytes: Buffer])[] = [
    ['large', large],
    ['cut', large.subarray(0, large.length / 2)],
    ['zeros', Buffer.alloc(MB)],
    ['magic', Buffer.concat([large.subarray(0, 8), Buffer.alloc(MB, 0xff)])],
    ...Array.from({ length: 40 }, (_, index) => {
      const bytes = Buffer.from(manyParameters(3));
      for (let flip = 0; flip < 3; flip += 1) {
        bytes[random.below(bytes.length)]! ^= 1 + random.below(255);
      }
      return [`flipped${index}`, bytes] as const;
    }),
  ];

  it('are served as they are, with an interface, without one, or refused in time', async () => {
    const data = join(folder, 'ledger-of-modules');
    const genesis = join(folder, 'modules.blob');
    const writes = modules.map(
      ([name, bytes]): WriteSetEntry => ({
        key: moduleStateKey(ADDRESS_ONE, name),
        op: { kind: 'creation', bytes, metadata: undefined },
      }),
    );
    writeFileSync(genesis, genesisFile([...NEEDED_WRITES, ...writes], []));
    const made = await runCommand(['init', '--data', data, '--genesis', genesis]);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const node = await startOnSmallHeap(data);
    const before = node.peakBytes();
    for (const [name, bytes] of modules) {
      const path = `/accounts/1/module/${name}`;
      const stored = await node.get(path, { accept: 'application/x-bcs' });
      expect(bytes.equals(Buffer.from(await stored.arrayBuffer()))).toBe(true);
      const response = await node.get(path);
      const body = (await response.json()) as Record<string, unknown>;
      if (response.status === 200) expect(Object.keys(body)).toEqual(['bytecode', 'abi']);
      else expect([response.status, body['error_code']]).toEqual([500, 'internal_error']);
    }
    const largest = Math.max(...modules.map(([, bytes]) => bytes.length));
    expect(node.peakBytes() - before).toBeLessThan(2 * (largest + ALLOWANCE_BYTES));
    expect((await node.get('')).status).toBe(200);
    expect(await node.stop()).toMatchObject({ code: 0 });
  });
});

describe('request bodies', () => {
  const LIMIT_BYTES = 8 * MB;
  const data = join(folder, 'ledger-of-requests');

  beforeAll(async () => {
    const genesis = join(folder, 'small.blob');
    writeFileSync(genesis, smallGenesisFile());
    expect((await runCommand(['init', '--data', data, '--genesis', genesis])).code).toBe(0);
  });

  function request(payload: string): string {
    return (
      '{"sender":"0x1","sequence_number":"0","max_gas_amount":"1","gas_unit_price":"1",' +
      `"expiration_timestamp_secs":"1","payload":${payload}}`
    );
  }

  function entryFunction(typeArguments: string, args: string): string {
    return request(
      '{"type":"entry_function_payload","function":"0x1::aptos_account::transfer",' +
        `"type_arguments":${typeArguments},"arguments":${args}}`,
    );
  }

  /** A list of as many items as fit. */
  function list(item: string, bytes = LIMIT_BYTES - 500): string {
    return `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)) - 1)}${item}]`;
  }

  const bodies: readonly (readonly [string, () => string])[] = [
    ['numbers', () => list('1')],
    ['objects', () => list('{}')],
    ['nested lists', () => list(`${'['.repeat(120)}${']'.repeat(120)}`)],
    ['open lists', () => '['.repeat(LIMIT_BYTES)],
    ['names', () => `{${Array.from({ length: 600_000 }, (_, n) => `"${n}":1`).join(',')}}`],
    ['one number', () => '1'.repeat(LIMIT_BYTES)],
    ['one text of escapes', () => `"${'\\u0041'.repeat(LIMIT_BYTES / 6 - 1)}"`],
    ['arguments', () => entryFunction('[]', list('""'))],
    ['types', () => entryFunction(list('"u8"'), '[]')],
    ['one long type', () => entryFunction(`["0x1::a::B<${'u8,'.repeat(2_000_000)}u8>"]`, '[]')],
    ['nested types', () => entryFunction(`["${'vector<'.repeat(1_000_000)}"]`, '[]')],
    ['signers', () => request('{}').replace(/}$/, `,"secondary_signers":${list('"0x1"')}}`)],
    [
      'a script',
      () =>
        request(
          `{"type":"script_payload","code":{"bytecode":"0x${'a1'.repeat(4_000_000)}"},` +
            '"type_arguments":[],"arguments":[]}',
        ),
    ],
  ];

  function post(node: ServedNode, body: string | Uint8Array, coding?: string): Promise<Response> {
    return fetch(`${node.ready.url}/transactions/encode_submission`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(coding === undefined ? {} : { 'content-encoding': coding }),
      },
      body,
    });
  }

  describe('of many values', () => {
    let node: ServedNode;
    let before: number;
    beforeAll(async () => {
      node = await startOnSmallHeap(data);
      before = node.peakBytes();
    });
    afterAll(async () => {
      expect(await node.stop()).toMatchObject({ code: 0 });
      expect(node.complaints).toEqual([]);
    });

    it.each(someOf(bodies, 5))('%s: refused, with little memory, twice over', async (_, make) => {
      const body = make();
      for (let run = 0; run < 2; run += 1) {
        const response = await post(node, body);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ vm_error_code: null });
      }
      // A body briefly exists twice, as bytes and as text, and so does the previous one until it is garbage collected.
      const allowed = 2 * (2 * LIMIT_BYTES + ALLOWANCE_BYTES);
      expect(node.peakBytes() - before).toBeLessThan(allowed);
      expect((await node.get('')).status).toBe(200);
    });
  });

  it('that blow up when they are unpacked are cut off', async () => {
    const node = await startOnSmallHeap(data);
    const bomb = gzipSync(Buffer.alloc(256 * MB, 0x20));
    for (let run = 0; run < 5; run += 1) {
      expect((await post(node, bomb, 'gzip')).status).toBe(413);
    }
    expect(await node.stop()).toMatchObject({ code: 0 });
  });

  it('of many clients that never finish share a bounded room; small ones pass by', async () => {
    const node = await ServedNode.start(data);
    const before = node.peakBytes();
    const head =
      'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\n' +
      `Content-Type: application/json\r\nContent-Length: ${LIMIT_BYTES}\r\n\r\n`;
    const sockets = Array.from({ length: 60 }, () => {
      const socket = connect(node.port, '127.0.0.1').on('error', () => undefined);
      socket.write(head);
      socket.write(Buffer.alloc(LIMIT_BYTES - 1, 0x20));
      return socket;
    });
    // Without a limit, this is enough time to receive all of it.
    for (let asked = 0; asked < 20; asked += 1) {
      expect((await node.get('/-/healthy')).status).toBe(200);
      await delay(100);
    }
    const small = await post(node, '[]');
    expect(small.status).toBe(400);
    // 480 MB were sent.
    if (canMeasure) {
      expect(node.peakBytes() - before).toBeLessThan(64 * MB + 2 * ALLOWANCE_BYTES);
    }
    for (const socket of sockets) socket.destroy();
    const large = await post(node, `[${' '.repeat(4 * MB)}]`);
    expect(large.status).toBe(400);
    expect(await node.stop()).toMatchObject({ code: 0 });
    expect(node.complaints).toEqual([]);
  });
});
