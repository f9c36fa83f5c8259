/** State changes of a transaction: what a resource was before it and is after it, field by field. */
import { useState } from 'preact/hooks';
import { JsonNumber, type JsonObject, type JsonValue } from '../../src/move/json/json-text.ts';
import { ApiFailure } from './api-client.ts';
import { useAnswer } from './ask.ts';
import { AccountId, Hex } from './ids.tsx';
import { field, formatJson, isList, textField } from './json-fields.ts';
import { resourceRequest } from './ledger-requests.ts';
import { JsonField, JsonView, TypeText } from './move-text.tsx';
import { linkTo } from './navigation.ts';
import { groupDigits } from './number-text.ts';

/** Changes shown before the reader asks for all; each resource is asked for as it was before. */
const CHANGES_AT_FIRST = 12;
/** Longer values are not compared field by field. */
const MAX_COMPARED_CHARACTERS = 50_000;

export function Changes({ changes, version }: { changes: readonly JsonValue[]; version: bigint }) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? changes : changes.slice(0, CHANGES_AT_FIRST);
  return (
    <section aria-label="Changes">
      <h2>
        Changes <span class="tally">{groupDigits(changes.length)}</span>
      </h2>
      {changes.length === 0 && <p class="hint">It changed nothing.</p>}
      {shown.map((change, at) => (
        <Change key={at} change={change} version={version} />
      ))}
      {shown.length < changes.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {groupDigits(changes.length)} changes
        </button>
      )}
    </section>
  );
}

function Change({ change, version }: { change: JsonValue; version: bigint }) {
  const kind = textField(change, 'type') ?? '';
  const address = textField(change, 'address');
  const data = field(change, 'data');
  const type =
    textField(data, 'type') ?? textField(change, 'resource') ?? textField(change, 'module');
  const handle = textField(change, 'handle');
  return (
    <article class="item">
      <div class="item-head">
        <h3>{kind.replaceAll('_', ' ')}</h3>
        {address && <AccountId hex={address} />}
        {handle && (
          <span>
            table <Hex hex={handle} />
          </span>
        )}
      </div>
      {type && (
        <p class="event-type">
          <code>
            <TypeText type={type} />
          </code>
        </p>
      )}
      {kind === 'write_resource' && address && type && (
        <ResourceChange {...{ address, type, version }} after={field(data, 'data') ?? null} />
      )}
      {kind === 'write_module' && address && <ModuleChange address={address} data={data} />}
      {handle && <TableChange change={change} />}
    </article>
  );
}

function ModuleChange({ address, data }: { address: string; data: JsonValue | undefined }) {
  const name = textField(field(data, 'abi'), 'name');
  if (name === undefined) return null;
  return (
    <p>
      <a href={linkTo('module', { account: address, name })}>Module {name}</a>
    </p>
  );
}

function TableChange({ change }: { change: JsonValue }) {
  const [key, value] = [textField(change, 'key'), textField(change, 'value')];
  const decoded = field(change, 'data');
  const rows = new Map<string, JsonValue>();
  if (key !== undefined) rows.set('key', field(decoded, 'key') ?? key);
  if (value !== undefined) rows.set('value', field(decoded, 'value') ?? value);
  return <JsonView value={rows} />;
}

interface ResourceChangeProps {
  readonly address: string;
  readonly type: string;
  readonly version: bigint;
  readonly after: JsonValue;
}

function ResourceChange({ address, type, version, after }: ResourceChangeProps) {
  const request = resourceRequest(address, type, String(version - 1n));
  const asked = useAnswer(version === 0n ? undefined : request);
  const isNew =
    version === 0n || (asked.failure instanceof ApiFailure && asked.failure.status === 404);
  if (isNew) {
    return (
      <>
        <p class="hint">New at this version.</p>
        <JsonView value={after} />
      </>
    );
  }
  if (asked.failure !== undefined) {
    return (
      <>
        <p class="hint">What it was before is not known: {(asked.failure as Error).message}</p>
        <JsonView value={after} />
      </>
    );
  }
  if (asked.json === undefined) return <p class="hint">Asking for the value before…</p>;
  return <Difference before={field(asked.json, 'data') ?? null} after={after} />;
}

function Difference({ before, after }: { before: JsonValue; after: JsonValue }) {
  const isLong = formatJson(after).length + formatJson(before).length > MAX_COMPARED_CHARACTERS;
  const rows = isLong ? [] : differences(before, after);
  return (
    <>
      {isLong && <p class="hint">Too long to be compared here.</p>}
      {!isLong && rows.length === 0 && <p class="hint">Written with the value it had.</p>}
      {rows.length > 0 && (
        <table class="difference">
          <caption class="visually-hidden">Fields that changed</caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([path, old, now]) => (
              <tr key={path}>
                <th scope="row">{path}</th>
                <td>{old === undefined ? '–' : <JsonField value={old} />}</td>
                <td>
                  {now === undefined ? '–' : <JsonField value={now} />}
                  <Increase before={old} after={now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <details>
        <summary>Whole value after</summary>
        <JsonView value={after} />
      </details>
    </>
  );
}

/** By how much a number grew or shrank. */
function Increase({
  before,
  after,
}: {
  before: JsonValue | undefined;
  after: JsonValue | undefined;
}) {
  if (typeof before !== 'string' || typeof after !== 'string') return null;
  if (!/^\d{1,78}$/.test(before) || !/^\d{1,78}$/.test(after)) return null;
  const change = BigInt(after) - BigInt(before);
  const text = `${change < 0n ? '−' : '+'}${groupDigits(change < 0n ? -change : change)}`;
  return <span class="hint"> {text}</span>;
}

type Row = readonly [path: string, before: JsonValue | undefined, after: JsonValue | undefined];

/** The leaves that differ. */
function differences(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path = '',
): readonly Row[] {
  const [old, now] = [childrenOf(before), childrenOf(after)];
  if (old === undefined || now === undefined) {
    const isSame =
      before !== undefined && after !== undefined && formatJson(before) === formatJson(after);
    return isSame ? [] : [[path || 'value', before, after]];
  }
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) =>
    differences(old.get(name), now.get(name), path === '' ? name : `${path}.${name}`),
  );
}

/** Fields or items by name; undefined for what has none. */
function childrenOf(value: JsonValue | undefined): ReadonlyMap<string, JsonValue> | undefined {
  if (isList(value)) return new Map(value.map((item, at) => [String(at), item]));
  if (value instanceof Map && !(value instanceof JsonNumber)) return value as JsonObject;
  return undefined;
}
