/**
 * Simulated transactions that publish modules, or execute proposals of a multisig account, on the ledger of the
 * recorded simulations (docs/spec/vm.md §8.7, §8.8).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { CompiledModule, Instruction } from '../../src/move/modules/compiled.ts';
import { OPCODES } from '../../src/move/modules/opcodes.ts';
import { readModule } from '../../src/move/modules/read.ts';
import type { EntryFunction } from '../../src/move/transactions/executable.ts';
import { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import { writeModule } from '../move/modules/write-module.ts';
import {
  type ReferenceLedger,
  recordedLines,
  SIMULATIONS_CHAIN,
  serveReferenceChain,
} from './reference-chain.ts';
import { rawBytes } from './simulation-requests.ts';

/** The recorded publication of a module with `init_module`. */
const WITH_INIT = 340;
/** The recorded execution of a multisig account's proposal, a transfer. */
const OF_MULTISIG = 346;
const AUTHENTICATOR_BYTES = 1 + 1 + 32 + 1 + 64;

let ledger: ReferenceLedger;
let recorded: RawTransaction;
let authenticator: Buffer;
let packageBytes: Buffer;
let module: CompiledModule;

beforeAll(async () => {
  ledger = await serveReferenceChain({}, SIMULATIONS_CHAIN);
  ({ raw: recorded, authenticator } = recordedTransaction(WITH_INIT));
  const [metadata, code] = (recorded.payload as EntryFunction).args.map(Buffer.from);
  packageBytes = decodeBcs(metadata!, (reader) => Buffer.from(reader.bytes()));
  module = readModule(decodeBcs(code!, (reader) => reader.vector(1, (one) => one.bytes()))[0]!);
});
afterAll(() => ledger.close());

function recordedTransaction(wanted: number): { raw: RawTransaction; authenticator: Buffer } {
  const lines = recordedLines<{ id: number; body: string }>('simulations/answers.jsonl');
  const signed = Buffer.from(lines.find(({ id }) => id === wanted)!.body, 'base64');
  return {
    raw: RawTransaction.decode(signed.subarray(0, -AUTHENTICATOR_BYTES)),
    authenticator: signed.subarray(-AUTHENTICATOR_BYTES),
  };
}

interface Shown {
  readonly vm_status: string;
  readonly success: boolean;
  readonly gas_used: string;
  readonly events: readonly { readonly type: string; readonly data: Record<string, unknown> }[];
  readonly changes: readonly { readonly type: string; readonly address?: string }[];
}

async function called(change: Partial<EntryFunction>): Promise<Shown> {
  const payload = { ...(recorded.payload as EntryFunction), ...change };
  return simulated(Buffer.concat([rawBytes({ ...recorded, payload }), authenticator]));
}

async function simulated(body: Buffer): Promise<Shown> {
  const reply = await ledger.api.request({
    method: 'POST',
    url: '/v1/transactions/simulate',
    headers: { 'content-type': 'application/x.aptos.signed_transaction+bcs' },
    body,
  });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json()[0];
}

function published(modules: readonly CompiledModule[], described = packageBytes): Promise<Shown> {
  return called({ args: [encodeBcs((writer) => writer.bytes(described)), codeOf(modules)] });
}

function codeOf(modules: readonly CompiledModule[]): Buffer {
  return encodeBcs((writer) => writer.vector(modules, (to, one) => to.bytes(writeModule(one))));
}

const opcodeOf = (name: string): number => OPCODES.findIndex((row) => row?.name === name);

/** The module with other code in its first function with this name. */
function withCode(name: string, code: readonly Instruction[]): CompiledModule {
  const functionDefinitions = module.functionDefinitions.map((definition) => {
    const handle = module.functionHandles[definition.handle]!;
    if (module.identifiers[handle.name] !== name) return definition;
    return { ...definition, code: { ...definition.code!, code } };
  });
  return { ...module, functionDefinitions };
}

describe('a publication', () => {
  it('writes the module, and what its init_module makes', async () => {
    const { success, changes } = await published([module]);
    expect(success).toBe(true);
    const own = changes.filter(({ address }) => address === `0x${recorded.sender}`);
    expect(own.map(({ type }) => type).sort()).toEqual([
      'write_module',
      'write_resource',
      'write_resource',
      'write_resource',
    ]);
  });

  it('to an object is at the address of the object', async () => {
    const named = { address: '0'.repeat(63) + '1', name: 'object_code_deployment' };
    const args = [encodeBcs((writer) => writer.bytes(packageBytes)), codeOf([module])];
    const { vm_status } = await called({ module: named, function: 'publish', args });
    expect(vm_status).toMatch(
      new RegExp(
        `^MODULE_ADDRESS_DOES_NOT_MATCH_SENDER\nExecution failed with message: Compiled modules address 0x${recorded.sender} does not match the sender 0x[0-9a-f]{64}$`,
      ),
    );
  });

  it('is refused for code that the verifier refuses', async () => {
    const rest = withCode('init_module', [
      { opcode: opcodeOf('LdTrue'), operand: undefined },
      { opcode: opcodeOf('Ret'), operand: undefined },
    ] as Instruction[]);
    const { success, vm_status, changes } = await published([rest]);
    expect([success, vm_status]).toEqual([false, 'POSITIVE_STACK_SIZE_AT_BLOCK_END']);
    expect(changes.some(({ type }) => type === 'write_module')).toBe(false);
  });

  it('is refused for modules that the package does not name, and for names without a module', async () => {
    const text = 'metadata and code bundle mismatch';
    const other = Buffer.from(
      packageBytes.toString('latin1').replace('started', 'stopped'),
      'latin1',
    );
    expect((await published([module], other)).vm_status).toBe(
      `CONSTRAINT_NOT_SATISFIED\nExecution failed with message: ${text}: unregistered module: 'started'`,
    );
    expect((await published([module, module])).vm_status).toBe(
      `CONSTRAINT_NOT_SATISFIED\nExecution failed with message: ${text}: unregistered module: 'started'`,
    );
    expect((await published([])).vm_status).toBe(
      `CONSTRAINT_NOT_SATISFIED\nExecution failed with message: ${text}: not all registered modules published`,
    );
  });

  it('ends with init_module, which may abort', async () => {
    const aborting = withCode('init_module', [
      { opcode: opcodeOf('LdU64'), operand: 7n },
      { opcode: opcodeOf('Abort'), operand: undefined },
    ] as Instruction[]);
    const { vm_status, changes } = await published([aborting]);
    expect(vm_status).toBe(`Move abort in 0x${recorded.sender}::started: 0x7`);
    expect(changes.some(({ type }) => type === 'write_module')).toBe(false);
  });

  it('is refused for an init_module that anybody can call', async () => {
    const functionDefinitions = module.functionDefinitions.map((definition) => ({
      ...definition,
      visibility: 'public' as const,
    }));
    const { vm_status } = await published([{ ...module, functionDefinitions }]);
    expect(vm_status).toMatch(/^INVALID_INIT_MODULE/);
  });
});

describe('what is proposed to a multisig account', () => {
  it('may fail: the account notes it, and the transaction succeeds', async () => {
    const { raw, authenticator: signature } = recordedTransaction(OF_MULTISIG);
    // Enough for the transaction and for looking up the proposal.
    const poor = { ...raw, maxGasAmount: 60n };
    const shown = await simulated(Buffer.concat([rawBytes(poor), signature]));
    expect([shown.vm_status, shown.gas_used]).toEqual(['Executed successfully', '60']);
    const [failed, ...others] = shown.events;
    expect(failed!.type).toBe('0x1::multisig_account::TransactionExecutionFailed');
    expect(failed!.data['execution_error']).toMatchObject({
      error_code: '4002',
      error_type: 'MoveExecutionFailure',
    });
    expect(others.map(({ type }) => type)).toEqual(['0x1::transaction_fee::FeeStatement']);
  });
});
