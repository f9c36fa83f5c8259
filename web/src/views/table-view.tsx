/** A table, of which only the indexer knows the types and items. */

import { isObject, type Json } from '../asking/exact-json.ts';
import { indexerRequest, useGraph } from '../asking/indexer.ts';
import { JsonField, JsonView, TypeText } from '../modules/move-text.tsx';
import { Hex } from '../parts/ids.tsx';
import { Facts, LookUp, Pager, Section, Table, Waiting } from '../parts/parts.tsx';
import { linkTo, parameter } from '../route.ts';

const PAGE_ROWS = 25;

const QUERY = `query Table($handle: String, $limit: Int, $offset: Int) {
  table_metadatas(where: { handle: { _eq: $handle } }) { key_type value_type }
  current_table_items(
    where: { table_handle: { _eq: $handle }, is_deleted: { _eq: false } }
    order_by: [{ last_transaction_version: desc }, { key_hash: asc }], limit: $limit, offset: $offset
  ) { key decoded_key decoded_value }
}`;

interface TableAnswer {
  readonly table_metadatas: readonly { readonly key_type: string; readonly value_type: string }[];
  readonly current_table_items: readonly {
    readonly key: string;
    readonly decoded_key: Json;
    readonly decoded_value: Json;
  }[];
}

export function TableView() {
  const handle = parameter('handle');
  const offset = Number(parameter('offset')) || 0;
  const request = indexerRequest(QUERY, { handle, limit: PAGE_ROWS, offset });
  const { data, isMissing } = useGraph<TableAnswer>(handle === '' ? undefined : request);
  if (handle === '') {
    return (
      <LookUp
        view="table"
        label="Table"
        submit="Show table"
        fields={[{ label: 'Handle', name: 'handle', required: true, wide: true }]}
      />
    );
  }
  if (isMissing) {
    return (
      <p class="note">
        Tables can be looked at where the node has an indexer, which knows their items.
      </p>
    );
  }
  if (data === undefined) return <Waiting />;
  const [types] = data.table_metadatas;
  const { current_table_items: items } = data;
  return (
    <>
      <Facts
        rows={[
          ['Handle', <Hex key="handle" hex={handle} full />],
          ['Keys', types && <TypeText key="keys" type={types.key_type} />],
          ['Values', types && <TypeText key="values" type={types.value_type} />],
        ]}
      />
      <Section title="Items">
        {items.length === 0 && <p class="hint">It has no items{offset > 0 && ' further on'}.</p>}
        {items.length > 0 && (
          <Table style="items" caption="Items of the table" columns={['Key', 'Value']}>
            {items.map(({ key, decoded_key, decoded_value }) => (
              <tr key={key}>
                <td>
                  <Decoded value={decoded_key} />
                </td>
                <td>
                  <Decoded value={decoded_value} />
                </td>
              </tr>
            ))}
          </Table>
        )}
        <Pager
          label="Pages"
          links={[
            ['First', offset > 0 && linkTo('table', { handle })],
            [
              'Further',
              items.length === PAGE_ROWS && linkTo('table', { handle, offset: offset + PAGE_ROWS }),
            ],
          ]}
        />
      </Section>
    </>
  );
}

/** Named fields side by side; other values unchanged. */
function Decoded({ value }: { value: Json }) {
  return isObject(value) ? <JsonView value={value} /> : <JsonField value={value} />;
}
