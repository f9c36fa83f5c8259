/** Event streams by name: the event handles inside resources (docs/spec/http.md §7). */
import { RESOURCES_PAGE_SIZE } from '../account/account-facts.ts';
import type { Resource } from '../asking/answers.ts';
import { useListing } from '../asking/ask.tsx';
import { isList, isObject, type Json } from '../asking/exact-json.ts';
import { listingRequest } from '../asking/requests.ts';
import { TypeText } from '../modules/move-text.tsx';
import { groupDigits } from '../parts/number-text.ts';
import { Table } from '../parts/parts.tsx';
import { linkTo } from '../route.ts';

interface NamedStream {
  readonly account: string;
  readonly stream: string;
  /** Path of fields to the handle. */
  readonly name: string;
  /** Type of the resource that has the handle. */
  readonly type: string;
  readonly count: string;
}

interface Handle {
  readonly counter?: string;
  readonly guid?: { readonly id?: { readonly addr?: string; readonly creation_num?: string } };
}

/** The handles inside a resource, at any depth. */
export function streamsIn({ type, data }: Resource): NamedStream[] {
  const walk = (value: Json | undefined, name: string): NamedStream[] => {
    if (!isObject(value) && !isList(value)) return [];
    const { guid, counter } = value as Handle;
    const { addr, creation_num } = guid?.id ?? {};
    if (addr !== undefined && creation_num !== undefined && counter !== undefined) {
      return [{ account: addr, stream: creation_num, name, type, count: counter }];
    }
    return Object.entries(value).flatMap(([inner, item]) =>
      walk(item, name === '' ? inner : `${name}.${inner}`),
    );
  };
  return walk(data, '');
}

/** An account's resources, page by page. */
export function useResources(address: string) {
  return useListing<Resource>((start) =>
    listingRequest(address, 'resources', { start, limit: RESOURCES_PAGE_SIZE }),
  );
}

/** Streams by name, with links to their events. */
export function StreamTable({ streams }: { streams: readonly NamedStream[] }) {
  return (
    <Table
      style="streams cards"
      caption="Event streams of the account"
      columns={['Stream', 'Resource and field', '#Events']}
    >
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
    </Table>
  );
}
