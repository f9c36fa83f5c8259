/** The example of docs/encode.md, run verbatim, under the package's own name, with a serving node. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { GOOD_REQUEST } from '../api/hostile-bodies.ts';
import { hostileModules } from '../api/hostile-modules.ts';
import { CHAIN_ID, writeModuleLedger } from '../api/module-ledger.ts';
import { ledgerOf } from '../ledger/encode-modules.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { ROOT } from '../repo/source-tree.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';

const run = promisify(execFile);
const folder = temporaryFolder();
afterAll(killLeftNodes);

/** A ledger whose only module has the function in the example. */
async function exampleLedger(): Promise<string> {
  const lookup = ledgerOf(
    { '0x1::aptos_account::transfer': { parameters: ['&signer', 'address', 'u64'] } },
    {},
  );
  const module = lookup({ address: ADDRESS_ONE, name: 'aptos_account' }) as CompiledModule;
  const data = join(folder, 'example');
  await (await writeModuleLedger(data, [writeModule(module)])).close();
  return data;
}

/** Runs a module's text in the package's folder, where its own name can be imported. */
async function runModule(text: string): Promise<string> {
  const args = ['--input-type=module', '--eval', text];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: ROOT });
  expect(stderr).toBe('');
  return stdout;
}

describe('the library', () => {
  const docs = readFileSync(join(ROOT, 'docs/encode.md'), 'utf8');
  const [, example] = /^```ts\n([\s\S]*?)^```$/m.exec(docs)!;

  it('runs the example of docs/encode.md', async () => {
    const node = await ServedNode.start(await exampleLedger());
    const printed = await runModule(
      example!.replaceAll('http://127.0.0.1:8080/v1', node.ready.url),
    );
    const [message, shown] = printed.split('\n');
    const tail = '80d8db700000000004';
    expect(message).toMatch(new RegExp(`^b5e97db07fa0bd0e[0-9a-f]+${tail}$`));
    expect(shown).toBe(`${CAFE_HEX} 1000000 [ 'address', 'u64' ] true`);
    expect(docs).toContain(`It prints the message and \`${shown}\``);
    expect((await node.stop()).code).toBe(0);
  });

  it('gives errors with codes', async () => {
    const modules = hostileModules().map((bytes) => bytes.toString('base64'));
    const request = { ...GOOD_REQUEST, sender: 'x' };
    const printed = await runModule(`
      import { BinaryFormatError, DecodeError, EncodeError, PlainJsonError } from 'daybook';
      import { decodeSubmission, encodeSubmission, modulesFrom, readModule } from 'daybook';
      const bytes = ${JSON.stringify(modules)}.map((text) => Buffer.from(text, 'base64'));
      const context = { chainId: ${CHAIN_ID}, lookupModule: modulesFrom(bytes) };
      const failures = await Promise.all([
        encodeSubmission(${JSON.stringify(request)}, context),
        encodeSubmission('{', context),
        encodeSubmission({ sender: new Date() }, context),
        decodeSubmission('zz', context),
        decodeSubmission(Buffer.alloc(40), context),
        (async () => readModule(Buffer.of(1)))(),
      ].map((promise) => promise.catch((error) => error)));
      const kinds = [EncodeError, EncodeError, PlainJsonError, DecodeError, DecodeError];
      kinds.push(BinaryFormatError);
      failures.forEach((error, at) => console.log(error instanceof kinds[at], error.code));
      const good = ${JSON.stringify(GOOD_REQUEST)};
      const fromObject = await encodeSubmission(good, context);
      const fromText = await encodeSubmission(JSON.stringify(good), context);
      console.log(Buffer.compare(fromObject, fromText));
    `);
    const codes = [
      'bad_field',
      'json_syntax',
      'not_json',
      'bad_hex',
      'unknown_domain',
      'bad_magic',
    ];
    expect(printed).toBe(`${codes.map((code) => `true ${code}\n`).join('')}0\n`);
  });
});
