/**
 * The quick way for the request that nearly all wallets send: a call of an entry function by one signer, without nonce,
 * integers of up to 15 digits, addresses in full, a function whose layouts are kept. The message is written while the
 * request is read; nothing is made in between.
 *
 * It gives a message or nothing. Whatever is unusual, also whatever is wrong, is left to the plain way (request.ts,
 * verify.ts, convert.ts), which alone knows what to say of it. test/ledger/encode-quick.test.ts holds the two together.
 */

import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { DEFAULT_DOMAIN_PREFIX } from '../../move/crypto/hash.ts';
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import type { EncodeContext } from './convert.ts';
import { EncodeError } from './encode-error.ts';
import {
  asList,
  asObject,
  entryFunctionField,
  type JsonField,
  moveTypeListField,
} from './fields.ts';
import { type FunctionPlan, functionPlan, resolveParameters } from './function-plan.ts';
import { encodeSizedArgument, type ResolvedParameter, writeTypeArguments } from './parameters.ts';
import { hashesOf, MAX_CHAIN_ID, PAYLOAD_INDEX } from './signing-message.ts';
import { verifyTypeArguments } from './verify.ts';

/** Longest integer text whose value a double holds exactly, whatever its digits. */
const EXACT_DIGITS = 15;
/** `0x` and 64 digits. */
const FULL_ADDRESS_LENGTH = 66;
const U64_BYTES = 8;

/** The signing message of a usual request; undefined for any other. Failures of the lookup come through. */
export function encodeQuickly(value: JsonValue, context: EncodeContext): Buffer | undefined {
  const { chainId } = context;
  const request = asObject(value);
  if (request === undefined || !(chainId >= 0 && chainId <= MAX_CHAIN_ID)) return undefined;
  if (isGiven(request, 'secondary_signers') || isGiven(request, 'replay_protection_nonce')) {
    return undefined;
  }
  const writer = new BcsWriter(512);
  writer.fixed(hashesOf(context.domainPrefix ?? DEFAULT_DOMAIN_PREFIX).singleAgent);
  const sender = request.get('sender');
  const isWritten =
    typeof sender === 'string' &&
    writer.addressText(sender) &&
    writeU64(request.get('sequence_number'), writer) &&
    writePayload(request.get('payload'), context.lookupModule, writer) &&
    writeU64(request.get('max_gas_amount'), writer) &&
    writeU64(request.get('gas_unit_price'), writer) &&
    writeU64(request.get('expiration_timestamp_secs'), writer);
  return isWritten ? writer.u8(chainId).view() : undefined;
}

function isGiven(request: JsonObject, name: string): boolean {
  const value = request.get(name);
  return value !== undefined && value !== null;
}

/** Appends a u64 that is written in plain digits, not too many. */
function writeU64(value: JsonField, writer: BcsWriter): boolean {
  if (typeof value !== 'string' || value.length === 0 || value.length > EXACT_DIGITS) return false;
  let number = 0;
  for (let index = 0; index < value.length; index += 1) {
    const digit = value.charCodeAt(index) - 0x30;
    if (digit < 0 || digit > 9) return false;
    number = number * 10 + digit;
  }
  writer.exactU64(number);
  return true;
}

function writePayload(value: JsonField, lookup: ModuleLookup, writer: BcsWriter): boolean {
  const payload = asObject(value);
  const args = asList(payload?.get('arguments'));
  if (args === undefined || payload?.get('type') !== 'entry_function_payload') return false;
  try {
    return writeCall(payload, args, lookup, writer);
  } catch (error) {
    if (error instanceof EncodeError) return false;
    throw error;
  }
}

function writeCall(
  payload: JsonObject,
  args: readonly JsonValue[],
  lookup: ModuleLookup,
  writer: BcsWriter,
): boolean {
  const { module: id, name } = entryFunctionField(payload.get('function'), '');
  const types = moveTypeListField(payload.get('type_arguments'), '');
  verifyTypeArguments(types);
  const module = lookup(id);
  if (module === undefined || module instanceof Promise) return false;
  const plan = functionPlan(module, name);
  const parameters = plan?.plainArguments;
  if (parameters === undefined || parameters.length !== args.length) return false;
  if (plan!.typeParameterCount !== types.length) return false;
  const resolved = keptLayouts(plan!, lookup);
  if (resolved === undefined) return false;
  writer.uleb32(PAYLOAD_INDEX.entryFunction).fixed(plan!.nameBytes);
  writeTypeArguments(writer, types);
  writer.length32(args.length);
  for (let index = 0; index < args.length; index += 1) {
    const parameter = resolved[index]!;
    if (!writeArgument(index, parameters[index]!.type, parameter, args[index]!, writer)) {
      return false;
    }
  }
  return true;
}

/** The layouts, when all are at hand. */
function keptLayouts(
  { plainArguments }: FunctionPlan,
  lookup: ModuleLookup,
): readonly ResolvedParameter[] | undefined {
  for (const { kept } of plainArguments!) if (kept === undefined) return undefined;
  const resolved = resolveParameters(plainArguments!, lookup);
  if (!(resolved instanceof Promise)) return resolved;
  // An upgrade in between, or a lookup that takes its time: the plain way meets its failure too.
  resolved.catch(() => undefined);
  return undefined;
}

/** Appends an argument behind its length. Addresses and u64 of the usual forms go the quick way. */
function writeArgument(
  index: number,
  type: MoveType,
  parameter: ResolvedParameter,
  json: JsonValue,
  writer: BcsWriter,
): boolean {
  const kind = parameter.kind === 'layout' ? parameter.layout.kind : undefined;
  if (kind === 'address' && typeof json === 'string' && json.length === FULL_ADDRESS_LENGTH) {
    return writer.u8(ADDRESS_BYTES).addressText(json);
  }
  if (kind === 'u64' && typeof json === 'string' && json.length <= EXACT_DIGITS) {
    return writeU64(json, writer.u8(U64_BYTES));
  }
  encodeSizedArgument(index, type, parameter, json, writer);
  return true;
}
