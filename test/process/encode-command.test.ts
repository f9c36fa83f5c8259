/** `daybook encode` and `daybook decode` as commands, and the same operations over HTTP with the same ledger. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_INPUT_BYTES } from '../../src/node/settings/input.ts';
import { GOOD_REQUEST } from '../api/hostile-bodies.ts';
import { hostileModules } from '../api/hostile-modules.ts';
import { writeModuleLedger } from '../api/module-ledger.ts';
import { genesisPresent } from '../move/values/layout-genesis.ts';
import { someOf } from '../random.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');

const REQUEST = GOOD_REQUEST;

beforeAll(async () => {
  const store = await writeModuleLedger(data, hostileModules());
  await store.close();
});
afterAll(killLeftNodes);

const encode = (input: string | Buffer, args: string[] = [], environment = {}) =>
  runCommand(['encode', '--data', data, ...args], { input, environment });
const decode = (input: string | Buffer, args: string[] = [], environment = {}) =>
  runCommand(['decode', '--data', data, ...args], { input, environment });

describe('encode and decode', () => {
  it('are inverse, and decode takes hex in any dress', async () => {
    const encoded = await encode(JSON.stringify(REQUEST));
    expect(encoded).toMatchObject({ code: 0, stderr: '' });
    expect(encoded.stdout).toMatch(/^0xb5e97db0[0-9a-f]+\n$/);
    const hex = encoded.stdout.trim();
    const answers = new Set<string>();
    for (const input of [hex, `  ${hex.slice(2)}\r\n`, `"${hex}"\n`, hex.toUpperCase().slice(2)]) {
      const decoded = await decode(input);
      expect(decoded).toMatchObject({ code: 0, stderr: '' });
      answers.add(decoded.stdout);
    }
    expect(answers.size).toBe(1);
    const [answer] = answers as unknown as [string];
    const { daybook_notes: notes, ...request } = JSON.parse(answer);
    expect(request).toEqual(REQUEST);
    expect(notes).toMatchObject({
      encodes_back: true,
      parameter_types: ['u8', 'u64', 'u256', 'bool', 'address'],
    });
    expect(await encode(answer)).toEqual(encoded);
  });

  it('escape on the terminal what cannot be seen', async () => {
    const script = {
      ...REQUEST,
      payload: { ...REQUEST.payload, function: '0x1::none::none', arguments: [] },
    };
    expect(expectFailure(await encode(JSON.stringify(script)), 1)).toContain("can't be found");
    const name = 'a\u202eb\u009b';
    const bytes = Buffer.from(name, 'utf8');
    const message = Buffer.from(
      (await encode(JSON.stringify(REQUEST))).stdout.trim().slice(2),
      'hex',
    );
    // The module's name comes after domain, sender, sequence number, variant and address.
    const at = 32 + 32 + 8 + 1 + 32;
    const length = message[at]!;
    const changed = Buffer.concat([
      message.subarray(0, at),
      Buffer.of(bytes.length),
      bytes,
      message.subarray(at + 1 + length),
    ]);
    const { stdout } = await decode(changed.toString('hex'));
    expect(stdout).toContain('daybook_raw_payload');
    expect(stdout).toMatch(/^[\n\x20-\x7e\u00a1-\uffff]*$/);
    expect(stdout).not.toMatch(/[\u009b\u202e]/);
  });
});

describe('what they refuse', () => {
  it.each([
    [
      'no request',
      '',
      'parse request payload error: Expected input type "EncodeSubmissionRequest"',
    ],
    ['no JSON', '{', 'parse request payload error: EOF while parsing an object at line 1 column 1'],
    [
      'a payload that is gone',
      JSON.stringify({ ...REQUEST, payload: { type: 'module_bundle_payload' } }),
      "'UserTransactionRequest' invalid: Module bundle payload has been removed",
    ],
    [
      'arguments of a wrong type',
      JSON.stringify({
        ...REQUEST,
        payload: { ...REQUEST.payload, arguments: [1, 2, '3', true, '0x1'] },
      }),
      'The given transaction is invalid: Failed to parse transaction payload: parse arguments[1] failed',
    ],
  ])('encode: %s', async (_what, input, message) => {
    expect(expectFailure(await encode(input), 1)).toContain(message);
  });

  it.each([
    ['nothing', '', 'The given signing message is invalid: it begins with a hash of 32 bytes'],
    ['no hex', 'hello', 'no hex: Odd number of digits'],
    ['a byte missing', '0x00', 'but there are 1'],
  ])('decode: %s', async (_what, input, message) => {
    expect(expectFailure(await decode(input), 1)).toContain(message);
  });

  it.each([-1, 0, 1])('MAX_INPUT_BYTES %i', async (more) => {
    const text = JSON.stringify(REQUEST);
    const input = Buffer.alloc(MAX_INPUT_BYTES + more, ' ');
    input.write(text);
    const result = await encode(input);
    if (more > 0) expect(expectFailure(result, 1)).toContain(`more than ${MAX_INPUT_BYTES} bytes`);
    else expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  it('a folder without a ledger, and an option that is none', async () => {
    const absent = await runCommand(['encode', '--data', join(folder, 'absent')], { input: '{}' });
    expect(expectFailure(absent, 1)).toContain('no ledger');
    expect((await encode('{}', ['--nonsense'])).code).toBe(2);
  });
});

interface Vector {
  readonly name: string;
  readonly ledger: 'mainnet' | 'devnet';
  readonly request: object;
  readonly signing_message: string;
}

describe.skipIf(!genesisPresent)('all vectors by command and HTTP (needs ../shared)', () => {
  const fixture = new URL('../fixtures/encode-vectors.json', import.meta.url);
  const vectors = JSON.parse(readFileSync(fixture, 'utf8')) as Vector[];

  it.each(['mainnet', 'devnet'] as const)('%s', async (network) => {
    const ledger = join(folder, network);
    const url = new URL(`../../../shared/genesis/${network}.blob`, import.meta.url);
    const made = await runCommand(['init', '--data', ledger, '--genesis', fileURLToPath(url)]);
    expect(made.code).toBe(0);
    const node = await ServedNode.start(ledger);
    const post = async (path: string, body: unknown): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const reply = await fetch(`${node.ready.url}/transactions/${path}`, init);
      expect(reply.status).toBe(200);
      return reply.json();
    };
    const own = vectors.filter((vector) => vector.ledger === network);
    expect(own.length).toBeGreaterThan(0);
    for (const { name, request, signing_message: expected } of own) {
      expect(await post('encode_submission', request), name).toBe(expected);
      const decoded = await post('decode_submission', expected);
      expect(decoded, name).toMatchObject({ daybook_notes: { encodes_back: true } });
      expect(await post('encode_submission', decoded), name).toBe(expected);
    }
    for (const { name, request, signing_message: expected } of someOf(own, 3)) {
      const input = JSON.stringify(request);
      const encoded = await runCommand(['encode', '--data', ledger], { input });
      expect(encoded.stdout, name).toBe(`${expected}\n`);
    }
    expect((await node.stop()).code).toBe(0);
  });
});
