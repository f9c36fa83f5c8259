/** Names of parameters from Move source, because bytecode has none. */
import { isSigner } from '../encoding/signer-type.ts';

/** Scans in one pass. Source is untrusted, and a pattern could search for the end of each comment in quadratic time. */
function withoutComments(source: string): string {
  const begin = /\/[/*]/g;
  let code = '';
  let at = 0;
  for (let found = begin.exec(source); found !== null; found = begin.exec(source)) {
    code += `${source.slice(at, found.index)} `;
    const isBlock = found[0] === '/*';
    const end = source.indexOf(isBlock ? '*/' : '\n', begin.lastIndex);
    if (end === -1) return code;
    at = isBlock ? end + 2 : end;
    begin.lastIndex = at;
  }
  return code + source.slice(at);
}

/** The names of a function's parameters as declared in source; empty if the function is not found. */
export function parameterNames(source: string, name: string): string[] {
  const code = withoutComments(source);
  const start = new RegExp(`\\bfun\\s+${name.replaceAll('$', '\\$')}\\s*[<(]`).exec(code);
  if (start === null) return [];
  let at = start.index + start[0].length - 1;
  if (code[at] === '<') at = code.indexOf('(', at);
  let depth = 0;
  let list = '';
  for (; at >= 0 && at < code.length; at += 1) {
    const letter = code[at]!;
    if ('(<'.includes(letter)) depth += 1;
    if (')>'.includes(letter)) depth -= 1;
    if (depth === 0) break;
    // Commas inside of types do not separate parameters.
    if (depth > 1 || letter !== '(') list += depth > 1 && letter === ',' ? ' ' : letter;
  }
  return list.split(',').flatMap((one) => /^\s*(?:mut\s+)?([A-Za-z_]\w*)\s*:/.exec(one)?.[1] ?? []);
}

/** Names of the parameters that a caller passes, all but the signers. @param names those of all parameters, or none */
export function argumentNames(params: readonly string[], names: readonly string[]): string[] {
  if (names.length !== params.length) return [];
  return names.filter((_, at) => !isSigner(params[at]!));
}
