/** Module: its structs and functions laid out to read like Move declarations. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../ask.ts';
import { moduleRequest } from '../ledger-requests.ts';
import { readModuleCode } from '../module-code.ts';
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
import { ViewForm } from '../view-form.tsx';

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
          {...{ name, version }}
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
  readonly version: string | undefined;
}

function Module({ asked, item, name, version }: ModuleProps) {
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
        <Interface {...{ abi, item, version }} />
      )}
      <Code {...{ bytecode }} account={abi?.address ?? ''} name={name} />
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

/** Constants, callers and instructions, read from the bytes when the reader wants them. */
function Code({ bytecode, account, name }: { bytecode: string; account: string; name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="code" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Code: constants, calls and instructions</summary>
      {isOpen && <CodeRead {...{ bytecode, account, name }} />}
    </details>
  );
}

function CodeRead({
  bytecode,
  account,
  name,
}: {
  bytecode: string;
  account: string;
  name: string;
}) {
  const read = useMemo(() => {
    try {
      return { code: readModuleCode(bytecode) };
    } catch (error) {
      return { error };
    }
  }, [bytecode]);
  if (read.code === undefined) return <Failure title="No code" error={read.error} />;
  const { functions, constants, bytecodeVersion } = read.code;
  const link = (called: string) => {
    const [address = account, module = name, item] = called.includes('::')
      ? called.split('::')
      : [account, name, called];
    return (
      <a key={called} href={linkTo('module', { account: address, name: module, item })}>
        <code>{called}</code>
      </a>
    );
  };
  return (
    <>
      <p class="hint">Bytecode version {bytecodeVersion}.</p>
      {constants.length > 0 && (
        <table class="constants cards">
          <caption>Constants</caption>
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {constants.map(({ type, value }, at) => (
              <tr key={at}>
                <td>
                  <code>{type}</code>
                </td>
                <td>
                  <code>{value}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {functions.map((one) => (
        <article key={one.name} class="item">
          <h3>{one.name}</h3>
          {one.calls.length > 0 && <p class="calls">Calls {one.calls.map(link)}</p>}
          {one.calledBy.length > 0 && <p class="calls">Called here by {one.calledBy.map(link)}</p>}
          {one.instructions === undefined ? (
            <p class="hint">Native: it has no instructions.</p>
          ) : (
            <details>
              <summary>{counted(one.instructions.length, 'instruction')}</summary>
              <CodeBlock style="hex" label={`Instructions of ${one.name}`}>
                <code>{one.instructions.join('\n')}</code>
              </CodeBlock>
            </details>
          )}
        </article>
      ))}
    </>
  );
}

/** A declaration in the list, with what the filter looks at. */
interface Item {
  readonly name: string;
  readonly marks: readonly string[];
  readonly lines: readonly Line[];
  readonly searchText: string;
  /** Of a function: its full name, and what it declares. */
  readonly call?: string;
  readonly declared?: AbiFunction;
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
  const call = `${abi.address}::${abi.name}::${declared.name}`;
  return { ...itemOf(declared.name, marks, functionLines(declared)), call, declared };
}

interface InterfaceProps {
  readonly abi: ModuleAbi;
  readonly item: string;
  readonly version: string | undefined;
}

function Interface({ abi, item, version }: InterfaceProps) {
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
          module{' '}
          <a href={linkTo('account', { address: abi.address, show: 'modules' })}>{abi.address}</a>::
          {abi.name}
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
      <Items title="Structs and enums" all={structs} {...{ fits, version }} revealed={item} />
      <Items title="Functions" all={functions} {...{ fits, version }} revealed={item} />
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
  readonly version: string | undefined;
}

function Items({ title, all, fits, revealed, version }: ItemsProps) {
  const shown = all.filter(fits);
  if (shown.length === 0 && all.length > 0) return null;
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="tally">{all.length}</span>
      </h2>
      {all.length === 0 && <p class="hint">None.</p>}
      {shown.map((item) => (
        <DeclaredItem key={item.name} isRevealed={item.name === revealed} {...{ item, version }} />
      ))}
    </section>
  );
}

interface DeclaredProps {
  readonly item: Item;
  readonly isRevealed: boolean;
  readonly version: string | undefined;
}

/** A declaration; the one that the route names comes into view and has the focus. */
function DeclaredItem({ item, isRevealed, version }: DeclaredProps) {
  const { declared, call = '' } = item;
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
        {declared?.isEntry && <a href={linkTo('encode', { function: call })}>Encode a call</a>}
      </div>
      <pre>
        <Declaration lines={item.lines} />
      </pre>
      {declared?.isView && <ViewForm name={call} {...{ declared, version }} />}
    </article>
  );
}
