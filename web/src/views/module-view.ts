/** Module: its structs and functions laid out to read like Move declarations. */
import { ApiFailure, send } from '../api-client.ts';
import { copyButton } from '../copy-button.ts';
import { announce, element } from '../dom.ts';
import { failurePanel } from '../failure-panel.ts';
import { form, textInput } from '../form-fields.ts';
import { parseJson } from '../json-fields.ts';
import { moduleRequest } from '../ledger-requests.ts';
import { type AbiFunction, type AbiStruct, type ModuleAbi, readModuleAnswer } from '../move-abi.ts';
import { functionLines, structLines } from '../move-declaration.ts';
import { counted, groupDigits } from '../number-text.ts';
import { RequestPanel } from '../request-panel.ts';
import { routeHash } from '../route.ts';
import { declarationNode } from '../type-nodes.ts';
import { LatestRun, type View, type ViewContext } from '../view.ts';

/** Makes the view. */
export function moduleView(context: ViewContext): View {
  const view = new ModuleView(context);
  return { node: view.node, update: (parameters) => view.update(parameters) };
}

class ModuleView {
  readonly node: HTMLElement;
  readonly #runs: LatestRun;
  readonly #account = textInput('Account', 'account', { required: true, wide: true });
  readonly #name = textInput('Module', 'name', { required: true });
  readonly #version = textInput('At version', 'version', { numeric: true, placeholder: 'latest' });
  readonly #result = element('div', { class: 'result' });
  readonly #panel = new RequestPanel();

  constructor({ signal, go }: ViewContext) {
    this.#runs = new LatestRun(signal);
    const inputs = [this.#account, this.#name, this.#version];
    const query = form(
      'Module',
      inputs.map(({ node }) => node),
      'Show module',
      () => {
        const entries = inputs.map(({ input }) => [input.name, input.value.trim()]);
        go(routeHash('module', Object.fromEntries(entries) as Record<string, string>));
      },
    );
    this.node = element('div', {}, query, this.#result, this.#panel.node);
  }

  update(parameters: ReadonlyMap<string, string>): void {
    const signal = this.#runs.begin();
    const get = (name: string): string => parameters.get(name)?.trim() ?? '';
    const [account, name, version] = [get('account'), get('name'), get('version')];
    this.#account.input.value = account;
    this.#name.input.value = name;
    this.#version.input.value = version;
    this.#result.replaceChildren();
    this.#panel.node.hidden = true;
    if (account === '' || name === '') return;
    void this.#show({ account, name, version, item: get('item') }, signal);
  }

  async #show(
    query: { account: string; name: string; version: string; item: string },
    signal: AbortSignal,
  ): Promise<void> {
    const request = moduleRequest(query.account, query.name, query.version);
    this.#panel.show(request);
    try {
      const answer = await send(request, signal);
      this.#panel.showAnswer(answer);
      const { abi, bytecode } = readModuleAnswer(parseJson(answer.text));
      const page = abi === undefined ? undefined : new ModulePage(abi, query.version || undefined);
      this.#result.replaceChildren(page?.node ?? withoutAbi(), bytecodeNode(bytecode));
      announce(`Module ${query.name} shown`);
      if (query.item !== '') page?.reveal(query.item);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiFailure) this.#panel.showFailure(error);
      this.#result.replaceChildren(failurePanel('No module', error));
    }
  }
}

function withoutAbi(): HTMLElement {
  return element(
    'p',
    {},
    'The node holds these bytes, but they do not load as a module, so there is no interface to show.',
  );
}

function bytecodeNode(bytecode: string): HTMLElement {
  const code = element('code', {}, bytecode);
  const size = groupDigits(Math.max(0, bytecode.length - 2) / 2);
  return element(
    'details',
    { class: 'bytecode' },
    element('summary', {}, `Bytecode, ${size} bytes`),
    copyButton('Copy hex', code),
    element('pre', { class: 'hex', tabindex: 0, 'aria-label': 'Bytecode in hex' }, code),
  );
}

/** A declaration in the list, with what the filter looks at. */
interface Item {
  readonly name: string;
  readonly searchText: string;
  readonly node: HTMLElement;
}

class ModulePage {
  readonly node: HTMLElement;
  readonly #items: readonly Item[];
  readonly #filter = textInput('Filter', 'filter', {
    hint: 'By name, type or badge; several words must all fit.',
  });
  readonly #count = element('p', { class: 'hint', role: 'status' });

  constructor(abi: ModuleAbi, version: string | undefined) {
    const structs = abi.structs.map((declared) => structItem(declared, version));
    const functions = abi.functions.map((declared) => functionItem(abi, declared, version));
    this.#items = [...structs, ...functions];
    this.#filter.input.addEventListener('input', () => this.#applyFilter());
    this.node = element(
      'div',
      { class: 'module' },
      element(
        'p',
        { class: 'module-name' },
        element('code', {}, `module ${abi.address}::${abi.name}`),
      ),
      friendsNode(abi, version),
      element('div', { class: 'filter-line' }, this.#filter.node, this.#count),
      section('Structs and enums', structs),
      section('Functions', functions),
    );
    this.#showCount(this.#items.length);
  }

  /** Brings an item into view and gives it the focus; an item the ABI does not show is said aloud. */
  reveal(name: string): void {
    const item = this.#items.find((candidate) => candidate.name === name);
    if (item === undefined) {
      const text = `The module’s interface does not show “${name}”.`;
      this.#count.textContent = text;
      return;
    }
    item.node.classList.add('revealed');
    item.node.tabIndex = -1;
    item.node.focus({ preventScroll: true });
    item.node.scrollIntoView({ block: 'start' });
  }

  #applyFilter(): void {
    const words = this.#filter.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { node, searchText } of this.#items) {
      node.hidden = !words.every((word) => searchText.includes(word));
      if (!node.hidden) shown += 1;
    }
    for (const part of this.node.querySelectorAll('section')) {
      part.hidden = part.querySelector('article:not([hidden])') === null;
    }
    this.#showCount(shown);
  }

  #showCount(shown: number): void {
    const all = counted(this.#items.length, 'declaration');
    this.#count.textContent = shown === this.#items.length ? all : `${shown} of ${all}`;
  }
}

function section(title: string, items: readonly Item[]): HTMLElement {
  const nodes = items.map(({ node }) => node);
  const none = element('p', { class: 'hint' }, 'None.');
  return element(
    'section',
    { 'aria-label': title },
    element('h2', {}, `${title} `, element('span', { class: 'tally' }, String(items.length))),
    ...(nodes.length === 0 ? [none] : nodes),
  );
}

function friendsNode({ friends }: ModuleAbi, version: string | undefined): HTMLElement {
  if (friends.length === 0) return element('p', { class: 'hint' }, 'No friend modules.');
  const links = friends.map((friend) => {
    const [account, name] = friend.split('::');
    const href = routeHash('module', { account, name, version });
    return element('li', {}, element('a', { href }, element('code', {}, friend)));
  });
  return element(
    'details',
    { class: 'friends', open: friends.length <= 4 },
    element('summary', {}, counted(friends.length, 'friend module')),
    element('ul', { class: 'links' }, ...links),
  );
}

function badges(names: readonly string[]): HTMLElement {
  const nodes = names.map((name) => element('li', { class: `badge ${name}` }, name));
  return element('ul', { class: 'badges', 'aria-label': 'Marks' }, ...nodes);
}

function structItem(declared: AbiStruct, version: string | undefined): Item {
  const marks: string[] = [];
  if (declared.isEvent) marks.push('event');
  if (declared.isEnum) marks.push('enum');
  if (declared.isNative) marks.push('native');
  if (declared.abilities.includes('key')) marks.push('resource');
  const lines = structLines(declared);
  return item(declared.name, marks, declarationNode(lines, version));
}

function functionItem(abi: ModuleAbi, declared: AbiFunction, version: string | undefined): Item {
  const marks: string[] = [declared.visibility];
  if (declared.isEntry) marks.push('entry');
  if (declared.isView) marks.push('view');
  const call = `${abi.address}::${abi.name}::${declared.name}`;
  const link = declared.isEntry
    ? element('a', { href: routeHash('encode', { function: call }) }, 'Encode a call')
    : undefined;
  return item(declared.name, marks, declarationNode(functionLines(declared), version), link);
}

function item(
  name: string,
  marks: readonly string[],
  declaration: HTMLElement,
  link?: HTMLElement,
): Item {
  const node = element(
    'article',
    { class: 'item' },
    element('div', { class: 'item-head' }, element('h3', {}, name), badges(marks), link),
    element('pre', {}, declaration),
  );
  const searchText = `${marks.join(' ')} ${declaration.textContent}`.toLowerCase();
  return { name, searchText, node };
}
