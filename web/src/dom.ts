/** Building nodes. Data only ever becomes text nodes and attribute values, never markup. */

type Child = Node | string | undefined;
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

/** An element with attributes (true: present without value; false and undefined: absent) and children. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  return fill(document.createElementNS(SVG_NAMESPACE, name), attributes, children);
}

function fill<Kind extends Element>(
  node: Kind,
  attributes: Attributes,
  children: readonly Child[],
): Kind {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, '');
    else if (value !== undefined && value !== false) node.setAttribute(name, String(value));
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

/** The element with this id. @throws Error when the page has none: index.html and the code disagree. */
export function required(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html lacks an element with id ${id}`);
  return found;
}

let nextId = 0;

/** An id that no other element has. */
export function freshId(stem: string): string {
  nextId += 1;
  return `${stem}-${nextId}`;
}

/** A button that runs `action`. */
export function button(text: string, action: () => void, attributes: Attributes = {}) {
  const node = element('button', { type: 'button', ...attributes }, text);
  node.addEventListener('click', action);
  return node;
}

/** A row of a description list. */
export function described(term: string, ...value: readonly Child[]): HTMLElement {
  return element('div', {}, element('dt', {}, term), element('dd', {}, ...value));
}

/** Announces something to screen readers once, without moving the focus. */
export function announce(text: string): void {
  required('announcements').textContent = text;
}
