/** Random bodies of encode submission: any JSON, almost valid requests, and damaged ones. */
import fc from 'fast-check';
import { GOOD_REQUEST } from './hostile-bodies.ts';
import { HOSTILE_CALLS } from './hostile-modules.ts';

const WORDS = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'payload', 'arguments', 'vec'],
  ...['entry_function_payload', 'script_payload', 'multisig_payload', 'module_bundle_payload'],
  ...['encrypted_transaction_payload', 'encrypted', '0x', '0x1', '1', '', 'ffff', '-1', '+7', 'T0'],
  ...['vector<u8>', '&signer', '0x1::string::String', 'dummy_field', 'Red', '\u0000', '😀'],
  ...HOSTILE_CALLS.map(([name]) => name),
];
const word = fc.constantFrom(...WORDS);
const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom('1e999', '-0', '1E5', `1${'0'.repeat(400)}`, '255', '256'),
);

/** Texts of JSON values with all kinds of names and numbers. */
export const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    numberText,
    fc.oneof(word, fc.string()).map((text) => JSON.stringify(text)),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(fc.oneof(word, fc.string()), tie('json')), { maxLength: 4 })
      .map((members) => objectText(members)),
  ),
}));

function objectText(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** A valid request except for some members, in any order. */
export const almost = fc
  .record({
    callable: fc.constantFrom(...HOSTILE_CALLS),
    args: fc.array(json, { maxLength: 6 }),
    types: fc.array(word, { maxLength: 2 }),
    changes: fc.array(fc.tuple(word, json), { maxLength: 2 }),
    outer: fc.array(
      fc.tuple(fc.constantFrom(...Object.keys(GOOD_REQUEST), 'secondary_signers'), json),
      {
        maxLength: 1,
      },
    ),
  })
  .map(({ callable: [name, count], args, types, changes, outer }) => {
    const { payload: _payload, ...fields } = GOOD_REQUEST;
    const given = Array.from({ length: count }, (_, index) => args[index % args.length] ?? '1');
    const payload = objectText([
      ['type', '"entry_function_payload"'],
      ['function', JSON.stringify(name)],
      ['type_arguments', JSON.stringify(types)],
      ['arguments', `[${given.join(',')}]`],
      ...changes,
    ]);
    const members = Object.entries(fields).map(
      ([field, value]) => [field, JSON.stringify(value)] as const,
    );
    return objectText([...members, ['payload', payload], ...outer]);
  });

/** Text with some changed bytes, so that it may be neither JSON nor UTF-8. */
export const damaged = fc
  .tuple(almost, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }))
  .map(([text, changes]) => {
    const bytes = Buffer.from(text);
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    return bytes;
  });
