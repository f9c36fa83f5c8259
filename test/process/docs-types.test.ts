/** TypeScript of README and docs, and the library's types, as the compiler of a strict project sees them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';

const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
/** In the package's folder: there its own name can be imported. */
const folder = mkdtempSync(join(ROOT, 'test/process/.module-'));
afterAll(() => rmSync(folder, { recursive: true }));

const files = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));
const examples = files.flatMap((file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const blocks = [...text.matchAll(/^```(?:[jt]s|javascript|typescript)\n([\s\S]*?)^```$/gm)];
  return blocks.map(([, code], index) => ({ name: `${file} #${index + 1}`, code: code! }));
});

/** What the compiler says of a module's text; nothing when it is right. */
async function complaintsAbout(code: string, options: object): Promise<string> {
  const path = mkdtempSync(join(folder, 'project-'));
  const config = {
    compilerOptions: {
      target: 'ES2023',
      module: 'NodeNext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      noEmit: true,
      ...options,
    },
    files: ['module.mts'],
  };
  writeFileSync(join(path, 'module.mts'), code);
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify(config));
  const run = promisify(execFile)(process.execPath, [COMPILER, '-p', path]);
  return run.then(
    ({ stdout }) => stdout,
    (failure: { readonly stdout: string }) => failure.stdout,
  );
}

const IN_NODE = { lib: ['ES2023'], types: ['node'] };
const IN_BROWSER = { lib: ['ES2023', 'DOM'], types: [] };

const HEAD = `
  import { decodeSubmission, encodeSubmission, modulesFrom } from 'daybook/encoding';
  const context = { chainId: 4, lookupModule: modulesFrom([]) };
  const gas = { max_gas_amount: 2000n, gas_unit_price: '100', expiration_timestamp_secs: 1n };
  const call = {
    type: 'entry_function_payload',
    function: '0x1::coin::transfer',
    type_arguments: [],
    arguments: [7n, [1n, 2n], { inner: '0x1', amounts: [3n] }],
  } as const;
`;

describe('TypeScript of the docs', () => {
  it('is there', () => {
    expect(examples.length).toBeGreaterThanOrEqual(3);
  });

  it.each(examples)('compiles: $name', async ({ code }) => {
    expect(await complaintsAbout(code, IN_NODE)).toBe('');
  });
});

describe('types of the library', () => {
  it.each([
    ['in Node', IN_NODE],
    ['in a browser', IN_BROWSER],
  ])('accept what the docs promise, and nothing else, %s', async (_where, options) => {
    const code = `${HEAD}
      const sender = '0x1';
      await encodeSubmission({ sender, sequence_number: 5n, ...gas, payload: call }, context);
      await encodeSubmission({ sender, sequence_number: '5', ...gas, payload: call }, context);
      // @ts-expect-error: a number is no u64
      await encodeSubmission({ sender, sequence_number: 5, ...gas, payload: call }, context);
      const rest = { type: 'entry_function_payload', type_arguments: [], arguments: [] } as const;
      // @ts-expect-error: no function is named
      await encodeSubmission({ sender, sequence_number: 5n, ...gas, payload: rest }, context);
    `;
    expect(await complaintsAbout(code, options)).toBe('');
  });

  it.each([
    ['in Node', IN_NODE],
    ['in a browser', IN_BROWSER],
  ])('tell decoded payloads apart by their type, %s', async (_where, options) => {
    const code = `${HEAD}
      const { request, notes } = await decodeSubmission(new Uint8Array(), context);
      const fee: bigint = notes.maxFeeOctas;
      const sequenceNumber: string = request.sequence_number;
      const { payload } = request;
      // @ts-expect-error: not all payloads have arguments
      payload.arguments;
      switch (payload.type) {
        case 'entry_function_payload':
          console.log(payload.function, payload.arguments.length);
          break;
        case 'script_payload':
          console.log(payload.code.bytecode, payload.arguments.length);
          break;
        case 'multisig_payload':
          console.log(payload.multisig_address, payload.transaction_payload?.arguments.length);
          break;
        case 'encrypted_transaction_payload':
          console.log(payload.payload_hash, payload.encryption_epoch.length);
          break;
        case 'module_bundle_payload':
          break;
        case 'daybook_raw_payload':
          console.log(payload.bcs);
          break;
        default:
          payload satisfies never;
      }
      if (payload.type === 'entry_function_payload' || payload.type === 'script_payload') {
        await encodeSubmission({ ...request, payload }, context);
      }
      console.log(fee, sequenceNumber);
    `;
    expect(await complaintsAbout(code, options)).toBe('');
  });
});
