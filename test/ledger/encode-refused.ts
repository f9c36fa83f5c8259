/**
 * Requests that are refused before conversion, for tests: a complete request to change, and the texts around messages.
 */
import { expect } from 'vitest';
import {
  EncodeError,
  type EncodeErrorCode,
  type EncodeStage,
  parseEncodeRequest,
  verifyEncodeRequest,
} from '../../src/submission/encode/index.ts';

export const TRANSFER = {
  type: 'entry_function_payload',
  function: '0x1::aptos_account::transfer',
  type_arguments: [] as unknown[],
  arguments: ['0x1', '5'] as unknown[],
};
export const SCRIPT = {
  type: 'script_payload',
  code: { bytecode: '0x' } as unknown,
  type_arguments: [],
  arguments: [],
};
export const REQUEST = {
  sender: '0xdd',
  sequence_number: '7',
  max_gas_amount: '1000000',
  gas_unit_price: '100',
  expiration_timestamp_secs: '1700000000',
  payload: TRANSFER as unknown,
};

/** The failure of a body in the stages before conversion. */
export function failure(body: unknown): EncodeError {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  try {
    verifyEncodeRequest(parseEncodeRequest(bytes));
  } catch (error) {
    if (error instanceof EncodeError) return error;
    throw error;
  }
  throw new Error(`accepted: ${bytes.toString().slice(0, 200)}`);
}

export function expectFailure(
  body: unknown,
  stage: EncodeStage,
  code: EncodeErrorCode,
  message: string,
): void {
  const error = failure(body);
  expect([error.message, error.stage, error.code]).toEqual([message, stage, code]);
}

/** The trace of a failure, innermost first. */
export const occurred = (...names: string[]) =>
  names.map((name) => ` (occurred while parsing "${name}")`).join('');
export const T = occurred('UserTransactionRequestInner', 'EncodeSubmissionRequest');
export const PARSE = 'parse request payload error: ';
export const U64 = 'failed to parse "string(U64)": ';
export const ADDRESS = 'failed to parse "string(Address)": ';
