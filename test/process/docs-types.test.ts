/** TypeScript of README and docs, and the library's types, checked by the compiler in a strict project. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';

const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
/** In the package's folder, so that its own name can be imported. */
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

/** Modules by name, with the options of their project; one compiler run checks all modules of a project. */
class Project {
  readonly #options: object;
  readonly #modules = new Map<string, string>();
  #output: Promise<string> | undefined;

  constructor(options: object) {
    this.#options = options;
  }

  add(name: string, code: string): void {
    // Each is a module of its own, whether or not it imports something.
    this.#modules.set(name, `${code}\nexport {};\n`);
  }

  /** The compiler's errors in a module; empty if it is right. */
  async complaintsAbout(name: string): Promise<string> {
    this.#output ??= this.#compile();
    const lines = (await this.#output).split('\n');
    return lines.filter((line) => line.includes(`${this.#fileOf(name)}(`)).join('\n');
  }

  #fileOf(name: string): string {
    return `module-${[...this.#modules.keys()].indexOf(name)}.mts`;
  }

  async #compile(): Promise<string> {
    const path = mkdtempSync(join(folder, 'project-'));
    const names = [...this.#modules.keys()];
    const config = {
      compilerOptions: {
        target: 'ES2023',
        module: 'NodeNext',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        noEmit: true,
        pretty: false,
        ...this.#options,
      },
      files: [...names.map((name) => this.#fileOf(name)), 'wrong.mts'],
    };
    for (const [name, code] of this.#modules) writeFileSync(join(path, this.#fileOf(name)), code);
    writeFileSync(join(path, 'wrong.mts'), "export const wrong: number = 'text';\n");
    writeFileSync(join(path, 'tsconfig.json'), JSON.stringify(config));
    const run = promisify(execFile)(process.execPath, [COMPILER, '-p', path], { cwd: path });
    const { stdout } = await run.catch((failure: { readonly stdout: string }) => failure);
    // The compiler has run, and reports errors in the expected format.
    expect(stdout).toMatch(/^wrong\.mts\(1,14\): error TS2322/m);
    return stdout;
  }
}

const IN_NODE = new Project({ lib: ['ES2023'], types: ['node'] });
const IN_BROWSER = new Project({ lib: ['ES2023', 'DOM'], types: [] });
for (const { name, code } of examples) IN_NODE.add(name, code);

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

  it.each(examples)('compiles: $name', async ({ name }) => {
    expect(await IN_NODE.complaintsAbout(name)).toBe('');
  });
});

const PROMISED = `${HEAD}
  const sender = '0x1';
  await encodeSubmission({ sender, sequence_number: 5n, ...gas, payload: call }, context);
  await encodeSubmission({ sender, sequence_number: '5', ...gas, payload: call }, context);
  // @ts-expect-error: a number is no u64
  await encodeSubmission({ sender, sequence_number: 5, ...gas, payload: call }, context);
  const rest = { type: 'entry_function_payload', type_arguments: [], arguments: [] } as const;
  // @ts-expect-error: no function is named
  await encodeSubmission({ sender, sequence_number: 5n, ...gas, payload: rest }, context);
`;

const DECODED = `${HEAD}
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

const LIBRARY = [
  ['accept what the docs promise, and nothing else', PROMISED],
  ['tell decoded payloads apart by their type', DECODED],
] as const;
for (const [name, code] of LIBRARY) {
  IN_NODE.add(name, code);
  IN_BROWSER.add(name, code);
}

describe.each([
  ['in Node', IN_NODE],
  ['in a browser', IN_BROWSER],
])('types of the library %s', (_where, project) => {
  it.each(LIBRARY)('%s', async (name) => {
    expect(await project.complaintsAbout(name)).toBe('');
  });
});
