/** Move types and declarations as nodes; names of structs link to their module. */
import { element } from './dom.ts';
import { type Line, type Token, typeTokens } from './move-declaration.ts';
import { routeHash } from './route.ts';

/** A type's text, its struct names linked. */
export function typeNodes(type: string): Node[] {
  return typeTokens(type).map((token) => tokenNode(token));
}

/** A declaration, one block per line, so that long lines wrap under their own indentation. */
export function declarationNode(lines: readonly Line[], version?: string): HTMLElement {
  const blocks = lines.map(({ indent, tokens }) =>
    element(
      'span',
      { class: `line indent-${indent}` },
      ...tokens.map((token) => tokenNode(token, version)),
      '\n',
    ),
  );
  return element('code', { class: 'declaration' }, ...blocks);
}

function tokenNode(token: Token, version?: string): Node {
  if (token.kind === 'plain') return document.createTextNode(token.text);
  if (token.target === undefined) return element('span', { class: `t-${token.kind}` }, token.text);
  const { address, module, name } = token.target;
  const href = routeHash('module', { account: address, name: module, item: name, version });
  return element('a', { href, class: `t-${token.kind}` }, token.text);
}
