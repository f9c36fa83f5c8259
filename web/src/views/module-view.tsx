/** Module: its functions and structs as Move declarations. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ModuleAbi } from '../../../src/move/modules/abi-shapes.ts';
import type { AbiFunction, ModuleAnswer } from '../asking/answers.ts';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { RequestPanel } from '../asking/request-panel.tsx';
import { moduleRequest } from '../asking/requests.ts';
import { readModuleCode } from '../modules/module-code.ts';
import { functionLines, type Line, structLines } from '../modules/move-declaration.ts';
import { useSource } from '../modules/move-source.ts';
import { Declaration } from '../modules/move-text.tsx';
import { parameterNames } from '../modules/parameter-names.ts';
import { ViewForm } from '../modules/view-form.tsx';
import { DeclaredName } from '../parts/ids.tsx';
import { counted, groupDigits } from '../parts/number-text.ts';
import {
  announce,
  CodeBlock,
  CopyButton,
  Failure,
  LookUp,
  Section,
  Table,
  TextField,
} from '../parts/parts.tsx';
import { linkTo, parameter } from '../route.ts';

export function ModuleView() {
  const [account, name] = [parameter('account'), parameter('name')];
  const isNamed = account !== '' && name !== '';
  const asked = useAnswer<ModuleAnswer>(isNamed ? moduleRequest(account, name) : undefined);
  return (
    <>
      {isNamed && (
        <Answered asked={asked} title="No module">
          {(answer) => <Module key={`${account}::${name}`} {...{ ...answer, account, name }} />}
        </Answered>
      )}
      <LookUp
        view="module"
        label="Module"
        submit="Show module"
        fields={[
          { label: 'Account', name: 'account', required: true, wide: true },
          { label: 'Module', name: 'name', required: true },
        ]}
      />
      <RequestPanel asked={asked} />
    </>
  );
}

interface NameOfModule {
  readonly account: string;
  readonly name: string;
}

function Module({ abi, bytecode, account, name }: ModuleAnswer & NameOfModule) {
  const source = useSource(account, name);
  useEffect(() => announce(`Module ${name} shown`), []);
  return (
    <>
      {abi ? (
        <Interface abi={abi} source={source?.text} />
      ) : (
        <p>
          The node holds these bytes, but they do not load as a module, so there is no interface to
          show.
        </p>
      )}
      {source && (
        <p class="hint">
          In the package {source.packageName}, upgraded {counted(Number(source.upgrades), 'time')}
          {source.text === undefined && '; it has no source on chain that can be shown here'}.
        </p>
      )}
      {source?.text !== undefined && (
        <details class="code">
          <summary>Move source, as its publisher has put it on chain</summary>
          <p class="hint">Nobody has checked that the bytecode was made from it.</p>
          <CopyButton label="Copy source" text={source.text} />
          <CodeBlock style="source" label="Move source">
            <code>{source.text}</code>
          </CodeBlock>
        </details>
      )}
      <Code bytecode={bytecode} prefix={abi ? `${abi.address}::${abi.name}::` : ''} />
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

interface CodeProps {
  readonly bytecode: string;
  /** Precedes the names of the module's own functions. */
  readonly prefix: string;
}

/** Constants, callers and instructions, decoded from the bytecode on demand. */
function Code(props: CodeProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="code" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Code: constants, calls and instructions</summary>
      {isOpen && <CodeRead {...props} />}
    </details>
  );
}

function CodeRead({ bytecode, prefix }: CodeProps) {
  const read = useMemo(() => {
    try {
      return { code: readModuleCode(bytecode) };
    } catch (error) {
      return { error };
    }
  }, [bytecode]);
  if (read.code === undefined) return <Failure title="No code" error={read.error} />;
  const { functions, constants, bytecodeVersion } = read.code;
  const links = (text: string, names: readonly string[]) =>
    names.length > 0 && (
      <p class="calls">
        {text}{' '}
        {names.map((name) => (
          <DeclaredName key={name} name={name.includes('::') ? name : prefix + name} shown={name} />
        ))}
      </p>
    );
  return (
    <>
      <p class="hint">Bytecode version {bytecodeVersion}.</p>
      {constants.length > 0 && <h3>Constants</h3>}
      {constants.length > 0 && (
        <Table style="constants cards" caption="Constants" columns={['Constant type', 'Value']}>
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
        </Table>
      )}
      {functions.map(({ name, calls, calledBy, instructions }) => (
        <article key={name} class="item">
          <h3>{name}</h3>
          {links('Calls', calls)}
          {links('Called here by', calledBy)}
          {instructions === undefined ? (
            <p class="hint">Native: it has no instructions.</p>
          ) : (
            <details>
              <summary>{counted(instructions.length, 'instruction')}</summary>
              <CodeBlock style="hex" label={`Instructions of ${name}`}>
                <code>{instructions.join('\n')}</code>
              </CodeBlock>
            </details>
          )}
        </article>
      ))}
    </>
  );
}

/** A declaration in the list, with the texts that the filter searches. */
interface Item {
  readonly name: string;
  readonly marks: readonly string[];
  readonly lines: readonly Line[];
  /** For a function: its full name, and its declaration. */
  readonly call?: string;
  readonly declared?: AbiFunction;
  /** The type of an event, if it takes no type arguments. */
  readonly eventType?: string | false;
}

function searchText({ marks, lines }: Item): string {
  const text = lines.flatMap(({ tokens }) => tokens.map((token) => token.text)).join('');
  return `${marks.join(' ')} ${text}`.toLowerCase();
}

function marksOf(marks: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(marks).filter((mark) => marks[mark]);
}

function itemsOf(abi: ModuleAbi): { structs: Item[]; functions: Item[] } {
  const structs = abi.structs.map((one) => ({
    name: one.name,
    marks: marksOf({
      event: one.is_event,
      enum: one.is_enum,
      native: one.is_native,
      resource: one.abilities.includes('key'),
    }),
    lines: structLines(one),
    eventType:
      one.is_event &&
      one.generic_type_params.length === 0 &&
      `${abi.address}::${abi.name}::${one.name}`,
  }));
  const functions = abi.exposed_functions.map((one) => ({
    name: one.name,
    marks: [one.visibility, ...marksOf({ entry: one.is_entry, view: one.is_view })],
    lines: functionLines(one),
    call: `${abi.address}::${abi.name}::${one.name}`,
    declared: one,
  }));
  return { structs, functions };
}

function Interface({ abi, source }: { abi: ModuleAbi; source: string | undefined }) {
  const [filter, setFilter] = useState('');
  const item = parameter('item');
  const { structs, functions } = useMemo(() => itemsOf(abi), [abi]);
  const all = [...structs, ...functions];
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (one: Item) => words.every((word) => searchText(one).includes(word));
  const shown = all.filter(fits).length;
  const isMissing = item !== '' && filter === '' && !all.some(({ name }) => name === item);
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
          {isMissing ? `The module’s interface does not show “${item}”.` : count}
        </p>
      </div>
      <Items title="Functions" all={functions} fits={fits} source={source} />
      <Items title="Structs and enums" all={structs} fits={fits} />
    </div>
  );
}

function Friends({ friends }: { friends: readonly string[] }) {
  if (friends.length === 0) return <p class="hint">No friend modules.</p>;
  return (
    <details class="friends" open={friends.length <= 4}>
      <summary>{counted(friends.length, 'friend module')}</summary>
      <ul class="links">
        {friends.map((friend) => (
          <li key={friend}>
            <DeclaredName name={friend} shown={friend} />
          </li>
        ))}
      </ul>
    </details>
  );
}

interface ItemsProps {
  readonly title: string;
  readonly all: readonly Item[];
  readonly fits: (item: Item) => boolean;
  readonly source?: string | undefined;
}

function Items({ title, all, fits, source }: ItemsProps) {
  const shown = all.filter(fits);
  if (shown.length === 0 && all.length > 0) return null;
  return (
    <Section title={title} count={all.length}>
      {all.length === 0 && <p class="hint">None.</p>}
      {shown.map((item) => (
        <DeclaredItem key={item.name} item={item} source={source} />
      ))}
    </Section>
  );
}

/** A declaration; the one that the route names is scrolled into view and focused. */
function DeclaredItem({ item, source }: { item: Item; source: string | undefined }) {
  const { name, marks, lines, declared, call = '', eventType } = item;
  const isRevealed = name === parameter('item');
  const parameters = useMemo(
    () => (source === undefined || declared === undefined ? [] : parameterNames(source, name)),
    [source, name],
  );
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
        <h3>{name}</h3>
        <ul class="badges" aria-label="Marks">
          {marks.map((mark) => (
            <li key={mark} class={`badge ${mark}`}>
              {mark}
            </li>
          ))}
        </ul>
        {eventType && <a href={linkTo('events', { type: eventType })}>Events</a>}
        {declared?.is_entry && <a href={linkTo('encode', { function: call })}>Encode a call</a>}
      </div>
      <pre>
        <Declaration lines={lines} />
      </pre>
      {parameters.length > 0 && <p class="hint">Parameters: {parameters.join(', ')}</p>}
      {declared?.is_view && <ViewForm name={call} declared={declared} parameters={parameters} />}
    </article>
  );
}
