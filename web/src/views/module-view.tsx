/** Module: its structs and functions laid out to read like Move declarations. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../ask.ts';
import { moduleRequest } from '../ledger-requests.ts';
import { type AbiFunction, type AbiStruct, type ModuleAbi, readModuleAnswer } from '../move-abi.ts';
import { functionLines, type Line, structLines } from '../move-declaration.ts';
import { Declaration } from '../move-text.tsx';
import { go, linkTo } from '../navigation.ts';
import { counted, groupDigits } from '../number-text.ts';
import {
  announce,
  CodeBlock,
  CopyButton,
  Failure,
  QueryForm,
  TextField,
  Waiting,
} from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import type { ViewProps } from '../view.ts';

export function ModuleView({ parameter, version }: ViewProps) {
  const [account, name] = [parameter('account'), parameter('name')];
  const isNamed = account !== '' && name !== '';
  const asked = useAnswer(isNamed ? moduleRequest(account, name, version) : undefined);
  return (
    <>
      <QueryForm
        label="Module"
        submit="Show module"
        onSubmit={(fields) => go(linkTo('module', fields))}
      >
        <TextField label="Account" name="account" value={account} required wide />
        <TextField label="Module" name="name" value={name} required />
      </QueryForm>
      {asked.request && !asked.json && asked.failure === undefined && <Waiting />}
      {asked.failure !== undefined && <Failure title="No module" error={asked.failure} />}
      {asked.json !== undefined && (
        <Module
          key={`${account}::${name}`}
          asked={asked.json}
          item={parameter('item')}
          name={name}
        />
      )}
      <RequestPanel asked={asked} />
    </>
  );
}

interface ModuleProps {
  readonly asked: Parameters<typeof readModuleAnswer>[0];
  readonly item: string;
  readonly name: string;
}

function Module({ asked, item, name }: ModuleProps) {
  const { abi, bytecode } = useMemo(() => readModuleAnswer(asked), [asked]);
  useEffect(() => announce(`Module ${name} shown`), []);
  return (
    <>
      {abi === undefined ? (
        <p>
          The node holds these bytes, but they do not load as a module, so there is no interface to
          show.
        </p>
      ) : (
        <Interface abi={abi} item={item} />
      )}
      <details class="bytecode">
        <summary>Bytecode, {groupDigits(Math.max(0, bytecode.length - 2) / 2)} bytes</summary>
        <CopyButton label="Copy hex" text={bytecode} />
        <CodeBlock style="hex" label="Bytecode in hex">
          <code>{bytecode}</code>
        </CodeBlock>
      </details>
    </>
  );
}

/** A declaration in the list, with what the filter looks at. */
interface Item {
  readonly name: string;
  readonly marks: readonly string[];
  readonly lines: readonly Line[];
  readonly searchText: string;
  /** The call's name, when it can be encoded. */
  readonly call?: string;
}

function itemOf(name: string, marks: readonly string[], lines: readonly Line[]): Item {
  const text = lines.flatMap(({ tokens }) => tokens.map((token) => token.text)).join('');
  return { name, marks, lines, searchText: `${marks.join(' ')} ${text}`.toLowerCase() };
}

function structItem(declared: AbiStruct): Item {
  const marks: string[] = [];
  if (declared.isEvent) marks.push('event');
  if (declared.isEnum) marks.push('enum');
  if (declared.isNative) marks.push('native');
  if (declared.abilities.includes('key')) marks.push('resource');
  return itemOf(declared.name, marks, structLines(declared));
}

function functionItem(abi: ModuleAbi, declared: AbiFunction): Item {
  const marks: string[] = [declared.visibility];
  if (declared.isEntry) marks.push('entry');
  if (declared.isView) marks.push('view');
  const item = itemOf(declared.name, marks, functionLines(declared));
  return declared.isEntry
    ? { ...item, call: `${abi.address}::${abi.name}::${declared.name}` }
    : item;
}

function Interface({ abi, item }: { abi: ModuleAbi; item: string }) {
  const [filter, setFilter] = useState('');
  const structs = useMemo(() => abi.structs.map(structItem), [abi]);
  const functions = useMemo(() => abi.functions.map((one) => functionItem(abi, one)), [abi]);
  const all = [...structs, ...functions];
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ searchText }: Item) => words.every((word) => searchText.includes(word));
  const shown = all.filter(fits).length;
  const isMissing = item !== '' && !all.some(({ name }) => name === item);
  const count =
    shown === all.length ? counted(shown, 'declaration') : `${shown} of ${all.length} declarations`;
  return (
    <div class="module">
      <p class="module-name">
        <code>
          module {abi.address}::{abi.name}
        </code>
      </p>
      <Friends friends={abi.friends} />
      <div class="filter-line">
        <TextField
          label="Filter"
          name="filter"
          hint="By name, type or badge; several words must all fit."
          value={filter}
          onInput={setFilter}
        />
        <p class="hint" role="status">
          {isMissing && filter === '' ? `The module’s interface does not show “${item}”.` : count}
        </p>
      </div>
      <Items title="Structs and enums" all={structs} fits={fits} revealed={item} />
      <Items title="Functions" all={functions} fits={fits} revealed={item} />
    </div>
  );
}

function Friends({ friends }: { friends: readonly string[] }) {
  if (friends.length === 0) return <p class="hint">No friend modules.</p>;
  return (
    <details class="friends" open={friends.length <= 4}>
      <summary>{counted(friends.length, 'friend module')}</summary>
      <ul class="links">
        {friends.map((friend) => {
          const [account, name] = friend.split('::');
          return (
            <li key={friend}>
              <a href={linkTo('module', { account, name })}>
                <code>{friend}</code>
              </a>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

interface ItemsProps {
  readonly title: string;
  readonly all: readonly Item[];
  readonly fits: (item: Item) => boolean;
  readonly revealed: string;
}

function Items({ title, all, fits, revealed }: ItemsProps) {
  const shown = all.filter(fits);
  if (shown.length === 0 && all.length > 0) return null;
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="tally">{all.length}</span>
      </h2>
      {all.length === 0 && <p class="hint">None.</p>}
      {shown.map((item) => (
        <DeclaredItem key={item.name} item={item} isRevealed={item.name === revealed} />
      ))}
    </section>
  );
}

/** A declaration; the one that the route names comes into view and has the focus. */
function DeclaredItem({ item, isRevealed }: { item: Item; isRevealed: boolean }) {
  const node = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isRevealed) return;
    node.current!.focus({ preventScroll: true });
    node.current!.scrollIntoView({ block: 'start' });
  }, [isRevealed]);
  return (
    <article
      ref={node}
      class={isRevealed ? 'item revealed' : 'item'}
      tabIndex={isRevealed ? -1 : undefined}
    >
      <div class="item-head">
        <h3>{item.name}</h3>
        <ul class="badges" aria-label="Marks">
          {item.marks.map((mark) => (
            <li key={mark} class={`badge ${mark}`}>
              {mark}
            </li>
          ))}
        </ul>
        {item.call && <a href={linkTo('encode', { function: item.call })}>Encode a call</a>}
      </div>
      <pre>
        <Declaration lines={item.lines} />
      </pre>
    </article>
  );
}
