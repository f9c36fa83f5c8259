import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type { Operation } from './document.ts';
import { GraphqlFailure } from './failure.ts';
import { readDefault, type Variables } from './input-values.ts';
import { checkLimit } from './limits.ts';

/** The variables of an operation that have a value. Their values are checked where they are used. */
export function readVariables(
  { definition }: Operation,
  values: JsonObject,
  maxNesting: number,
): Variables {
  const variables = new Map<string, JsonValue>();
  for (const { variable, type, defaultValue } of definition.variableDefinitions ?? []) {
    const name = variable.name.value;
    let value = values.get(name);
    if (value === undefined && defaultValue !== undefined) value = readDefault(defaultValue);
    if ((value === undefined || value === null) && type.kind === 'NonNullType') {
      const message = `expecting a value for non-nullable variable: "${name}"`;
      throw new GraphqlFailure('validation-failed', message);
    }
    if (value === undefined) continue;
    checkLimit(nestingOf(value), maxNesting, 'lists and objects within each other');
    variables.set(name, value);
  }
  for (const name of values.keys()) {
    if (!definition.variableDefinitions?.some(({ variable }) => variable.name.value === name)) {
      const message = `unexpected variables in variableValues: ${name}`;
      throw new GraphqlFailure('validation-failed', message);
    }
  }
  return variables;
}

function nestingOf(value: JsonValue): number {
  if (!(value instanceof Map) && !Array.isArray(value)) return 0;
  let deepest = 0;
  for (const member of value.values()) deepest = Math.max(deepest, nestingOf(member));
  return deepest + 1;
}
