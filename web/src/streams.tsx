/** Event streams by name: the event handles inside resources (docs/spec/http.md §7). */
import type { JsonObject, JsonValue } from '../../src/move/json/json-text.ts';
import { RESOURCES_PAGE_SIZE } from './account-facts.ts';
import { useListing } from './cursor-pages.tsx';
import { field, isList, textField } from './json-fields.ts';
import { listingRequest } from './ledger-requests.ts';
import { TypeText } from './move-text.tsx';
import { linkTo } from './navigation.ts';
import { groupDigits } from './number-text.ts';

export interface NamedStream {
  readonly account: string;
  readonly stream: string;
  /** The path of fields to the handle. */
  readonly name: string;
  /** The resource that holds it. */
  readonly type: string;
  readonly count: string;
}

/** The handles inside a resource, at any depth. */
export function streamsIn(resource: JsonValue): NamedStream[] {
  const type = textField(resource, 'type') ?? '';
  const walk = (value: JsonValue | undefined, name: string): NamedStream[] => {
    const id = field(field(value, 'guid'), 'id');
    const [account, stream] = [textField(id, 'addr'), textField(id, 'creation_num')];
    const count = textField(value, 'counter');
    if (account !== undefined && stream !== undefined && count !== undefined) {
      return [{ account, stream, name, type, count }];
    }
    if (isList(value)) return value.flatMap((item, at) => walk(item, `${name}.${at}`));
    if (!(value instanceof Map)) return [];
    return [...(value as JsonObject)].flatMap(([inner, item]) =>
      walk(item, name === '' ? inner : `${name}.${inner}`),
    );
  };
  return walk(field(resource, 'data'), '');
}

/** An account's resources, page by page. */
export function useResources(address: string, version: string | undefined) {
  return useListing((start) =>
    listingRequest(address, 'resources', { start, limit: RESOURCES_PAGE_SIZE, version }),
  );
}

/** Streams by name, with links to their events. */
export function StreamTable({ streams }: { streams: readonly NamedStream[] }) {
  return (
    <table class="streams cards">
      <caption class="visually-hidden">Event streams of the account</caption>
      <thead>
        <tr>
          <th scope="col">Stream</th>
          <th scope="col">Resource and field</th>
          <th scope="col" class="number">
            Events
          </th>
        </tr>
      </thead>
      <tbody>
        {streams.map(({ account, stream, name, type, count }) => (
          <tr key={`${type} ${name}`}>
            <td>
              <a href={linkTo('events', { account, stream })}>{stream}</a>
            </td>
            <td>
              <a href={linkTo('events', { account, stream })}>{name}</a>{' '}
              <code class="hint">
                <TypeText type={type} />
              </code>
            </td>
            <td class="number">{groupDigits(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
