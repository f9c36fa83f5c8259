/** Every module of a genesis is served: its bytes unchanged, and the ABI that other tools read from them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readModule } from '../../src/move/modules/read.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { NETWORKS, shortAddress } from './genesis-file.ts';
import { ALL_NETWORKS, describeServed, expectBytes, type Served } from './genesis-served.ts';
import { BROKEN_MODULE, SMALL_COUNTS } from './genesis-small.ts';

/** Computed by an ABI builder in another language (the fixture says which). */
const digests = JSON.parse(
  readFileSync(new URL('../fixtures/abi-digests.json', import.meta.url), 'utf8'),
) as { networks: Record<string, { abiSha256: string; modules: number; bytecodeBytes: number }> };

interface Abi {
  readonly address: string;
  readonly name: string;
  readonly exposed_functions: readonly object[];
  readonly structs: readonly object[];
}

interface ModuleBody {
  readonly bytecode: string;
  readonly abi: Abi | null;
}

function path(address: string, name: string): string {
  return `/v1/accounts/${address}/module/${name}`;
}

describeServed('modules', ALL_NETWORKS, (served: Served) => {
  it('are as many as the file has', () => {
    const expected = served.name === 'small' ? SMALL_COUNTS : NETWORKS[served.name].counts;
    expect(served.file.modules.length).toBe(expected.modules);
  });

  it('come out as bytes, as they are in the file', async () => {
    for (const { address, name, bytes } of served.file.modules) {
      expectBytes(await served.bcs(path(shortAddress(address), name)), bytes);
      expectBytes(await served.bcs(`${path(address, name)}?ledger_version=0`), bytes);
    }
  });

  it('come out as JSON: two members, the bytes as hex, the interface under its own name', async () => {
    for (const { address, name, bytes } of served.file.modules) {
      const text = await served.json(path(shortAddress(address), name));
      expect(text.startsWith(`{"bytecode":"0x${bytes.toString('hex')}","abi":`)).toBe(true);
      const body = JSON.parse(text) as ModuleBody;
      expect(Object.keys(body)).toEqual(['bytecode', 'abi']);
      if (bytes.equals(BROKEN_MODULE)) {
        expect(body.abi).toBeNull();
      } else {
        expect(body.abi).toMatchObject({ address: shortAddress(address), name });
      }
    }
  });

  it('are written back identically from what was read in them', async () => {
    for (const { address, name, bytes } of served.file.modules) {
      if (bytes.equals(BROKEN_MODULE)) continue;
      const answered = await served.bcs(path(address, name));
      expectBytes(writeModule(readModule(answered)), bytes);
    }
  });

  it('that are not there are not found, also beside real ones', async () => {
    for (const { address, name } of served.file.modules.slice(0, 20)) {
      const response = await served.ask(path(address, `${name}_`), 'application/x-bcs');
      expect([response.statusCode, response.body]).toEqual([
        404,
        `{"message":"Module not found by Address(${shortAddress(address)}), Module name(${name}_) ` +
          'and Ledger version(0)","error_code":"module_not_found","vm_error_code":null}',
      ]);
    }
  });

  if (served.name === 'small') return;
  it('have the interfaces that an independent builder made', async () => {
    const hash = createHash('sha256');
    for (const { address, name, bytes } of served.file.modules) {
      const text = await served.json(path(address, name));
      // The ABI as sent, between the bytecode and the last brace, without parsing and printing it again.
      hash.update(text.slice(`{"bytecode":"0x","abi":`.length + bytes.length * 2, -1) + '\n');
    }
    expect(hash.digest('hex')).toBe(digests.networks[served.name]!.abiSha256);
  });
});

describeServed('the interface of a module made by hand', [], (served) => {
  async function abiOf(name: string): Promise<Abi | null> {
    return (JSON.parse(await served.json(path('0x1', name))) as ModuleBody).abi;
  }

  it('is the one written down here', async () => {
    expect(await abiOf('reconfiguration')).toEqual({
      address: '0x1',
      name: 'reconfiguration',
      friends: [],
      exposed_functions: [],
      structs: [
        {
          name: 'NewEpochEvent',
          is_native: false,
          is_event: false,
          is_enum: false,
          abilities: [],
          generic_type_params: [],
          fields: [{ name: 'epoch', type: 'u64' }],
          variants: [],
        },
      ],
    });
    expect((await abiOf('coin'))?.exposed_functions).toEqual([
      {
        name: 'balance',
        visibility: 'public',
        is_entry: false,
        is_view: false,
        generic_type_params: [{ constraints: [] }],
        params: ['address'],
        return: [],
      },
    ]);
  });
});
