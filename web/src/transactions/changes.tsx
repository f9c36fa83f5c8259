/** State changes of a transaction: the value of a resource or item before and after it, field by field. */
import type { ChangeJson } from '../asking/answers.ts';
import { ApiFailure } from '../asking/api-client.ts';
import { useAnswer } from '../asking/ask.tsx';
import { formatJson, isList, isObject, type Json } from '../asking/exact-json.ts';
import {
  type ApiRequest,
  itemRequest,
  rawItemRequest,
  resourceRequest,
} from '../asking/requests.ts';
import { JsonField, JsonView, TypeText } from '../modules/move-text.tsx';
import { AccountId, Hex } from '../parts/ids.tsx';
import { groupDigits } from '../parts/number-text.ts';
import { Section, Some, Table } from '../parts/parts.tsx';
import { linkTo } from '../route.ts';

/** Changes shown before the reader asks for all; each requests its previous value. */
const CHANGES_AT_FIRST = 12;
/** Longer values are not compared field by field. */
const MAX_COMPARED_CHARACTERS = 50_000;

export function Changes({ changes, version }: { changes: readonly ChangeJson[]; version: bigint }) {
  return (
    <Section title="Changes" count={changes.length}>
      {changes.length === 0 && <p class="hint">It changed nothing.</p>}
      <Some items={changes} first={CHANGES_AT_FIRST} noun="changes">
        {(change, at) => <Change key={at} change={change} version={version} />}
      </Some>
    </Section>
  );
}

function Change({ change, version }: { change: ChangeJson; version: bigint }) {
  const { type: kind, address, handle, data, resource, module } = change;
  const type = (data?.['type'] as string | undefined) ?? resource ?? module;
  const abi = data?.['abi'];
  const name = isObject(abi) ? String(abi['name']) : undefined;
  const before = version === 0n ? undefined : beforeRequest(change, String(version - 1n));
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
      {handle && <JsonView value={{ key: data?.['key'] ?? change.key ?? null }} />}
      {address && name && (
        <p>
          <a href={linkTo('module', { account: address, name })}>Module {name}</a>
        </p>
      )}
      {/_(?:resource|table_item)$/.test(kind) && (
        <BeforeAndAfter request={before} after={valueAfter(change)} />
      )}
    </article>
  );
}

/** Undefined for a deletion. */
function valueAfter({ type, data, value }: ChangeJson): Json | undefined {
  if (type === 'write_resource') return data?.['data'] ?? null;
  return type.startsWith('write') ? (data?.['value'] ?? value) : undefined;
}

/** Requests the value at a version; items by their types, if the node knows them. */
function beforeRequest(change: ChangeJson, version: string): ApiRequest | undefined {
  const { address, handle, key, resource, data } = change;
  if (address !== undefined) {
    const type = String(data?.['type'] ?? resource ?? '');
    return type === '' ? undefined : resourceRequest(address, type, version);
  }
  if (handle === undefined || key === undefined) return undefined;
  if (!data?.['value_type']) return rawItemRequest(handle, key, version);
  const { key: decoded, key_type, value_type } = data;
  return itemRequest(handle, formatJson({ key_type, value_type, key: decoded }), version);
}

interface ComparedProps {
  /** Undefined if nothing can have existed before. */
  readonly request: ApiRequest | undefined;
  readonly after: Json | undefined;
}

function BeforeAndAfter({ request, after }: ComparedProps) {
  const { json, failure } = useAnswer(request);
  if (json !== undefined) {
    const isResource = request!.path.includes('/resource/');
    const before = isResource && isObject(json) ? (json['data'] ?? null) : json;
    return <Difference before={before} after={after} />;
  }
  if (request !== undefined && failure === undefined) {
    return (
      <p class="hint" aria-busy="true">
        Asking for the value before…
      </p>
    );
  }
  const isNew = request === undefined || (failure instanceof ApiFailure && failure.status === 404);
  if (after !== undefined && isNew) {
    return (
      <>
        <p class="hint">New at this version.</p>
        <JsonView value={after} />
      </>
    );
  }
  return (
    <>
      <p class="hint">
        {after === undefined && 'Deleted. '}What it was before is not known
        {failure instanceof Error && `: ${failure.message}`}
      </p>
      {after !== undefined && <JsonView value={after} />}
    </>
  );
}

function Difference({ before, after }: { before: Json; after: Json | undefined }) {
  const isLong = formatJson(after).length + formatJson(before).length > MAX_COMPARED_CHARACTERS;
  const rows = isLong ? [] : differences(before, after);
  return (
    <>
      {isLong && <p class="hint">Too long to be compared here.</p>}
      {!isLong && rows.length === 0 && <p class="hint">Written with the value it had.</p>}
      {after === undefined && <p class="hint">Deleted.</p>}
      {rows.length > 0 && (
        <Table
          style="difference"
          caption="Fields that changed"
          columns={['Field', 'Before', 'After']}
        >
          {rows.map(([path, old, now]) => (
            <tr key={path}>
              <th scope="row">{path}</th>
              <td>{old === undefined ? '–' : <JsonField value={old} />}</td>
              <td>
                {now === undefined ? '–' : <JsonField value={now} />}
                {increase(old, now)}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {after !== undefined && (
        <details>
          <summary>Whole value after</summary>
          <JsonView value={after} />
        </details>
      )}
    </>
  );
}

/** The change of a number. */
function increase(before: Json | undefined, after: Json | undefined) {
  const isNumber = (value: unknown): value is string => /^\d{1,78}$/.test(String(value));
  if (!isNumber(before) || !isNumber(after)) return null;
  const change = BigInt(after) - BigInt(before);
  return (
    <span class="hint">
      {' '}
      {change < 0n ? '−' : '+'}
      {groupDigits(change < 0n ? -change : change)}
    </span>
  );
}

type Row = readonly [path: string, before: Json | undefined, after: Json | undefined];

/** The leaves that differ. */
function differences(before: Json | undefined, after: Json | undefined, path = ''): Row[] {
  const hasParts = (value: Json | undefined) => isList(value) || isObject(value);
  if (!hasParts(before) || !hasParts(after)) {
    const isSame = before !== undefined && formatJson(before) === formatJson(after);
    return isSame && after !== undefined ? [] : [[path || 'value', before, after]];
  }
  const [old, now] = [before, after].map((value) => new Map(Object.entries(value as Json[])));
  return [...new Set([...old!.keys(), ...now!.keys()])].flatMap((name) =>
    differences(old!.get(name), now!.get(name), path === '' ? name : `${path}.${name}`),
  );
}
