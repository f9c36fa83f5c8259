/** The `abi` that a client may give beside a script's code: all its fields are checked, its parameters are used. */
import type { JsonValue } from '../../move/json/json-text.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { EncodeError } from './encode-error.ts';
import {
  asObject,
  booleanField,
  enumField,
  listField,
  moveTypeListField,
  stringField,
  type Trace,
  unexpectedType,
  within,
} from './fields.ts';

const VISIBILITIES = ['private', 'public', 'friend'] as const;
const ABILITIES: ReadonlySet<string> = new Set(['copy', 'drop', 'store', 'key']);

/**
 * Reads a function's ABI and gives its parameters (docs/spec/encode.md §A2, `code.abi`).
 * @throws EncodeError of stage `parse`
 */
export function readFunctionAbi(value: JsonValue, outer: Trace): readonly MoveType[] {
  const abi = asObject(value);
  if (abi === undefined) throw unexpectedType('MoveFunction', value, outer);
  const trace = within('MoveFunction', outer);
  stringField(abi.get('name'), 'IdentifierWrapper', trace);
  enumField(abi.get('visibility'), 'MoveFunctionVisibility', VISIBILITIES, trace);
  booleanField(abi.get('is_entry'), trace);
  booleanField(abi.get('is_view'), trace);
  listField(abi.get('generic_type_params'), 'MoveFunctionGenericTypeParam', trace, checkGeneric);
  const parameters = moveTypeListField(abi.get('params'), trace);
  moveTypeListField(abi.get('return'), trace);
  return parameters;
}

function checkGeneric(value: JsonValue, outer: Trace): void {
  const generic = asObject(value);
  if (generic === undefined) throw unexpectedType('MoveFunctionGenericTypeParam', value, outer);
  const trace = within('MoveFunctionGenericTypeParam', outer);
  listField(generic.get('constraints'), 'string(MoveAbility)', trace, checkAbility);
}

function checkAbility(value: JsonValue, trace: Trace): void {
  const name = stringField(value, 'MoveAbility', trace);
  if (ABILITIES.has(name)) return;
  throw new EncodeError(
    'parse',
    'bad_field',
    `failed to parse "string(MoveAbility)": Invalid ability string: ${name}${trace}`,
  );
}
