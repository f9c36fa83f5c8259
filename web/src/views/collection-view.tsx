/** A collection: its name and figures, its tokens with their owners, and its activities. */
import { OutsideLink, type OwnedToken, TokenTable } from '../account/owned.tsx';
import { Answered } from '../asking/ask.tsx';
import type { Json } from '../asking/exact-json.ts';
import { digitsOf, fullAddress, indexerRequest, useGraph } from '../asking/indexer.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { AccountId } from '../parts/ids.tsx';
import { groupDigits } from '../parts/number-text.ts';
import { Facts, Pager, Section, Table, Waiting } from '../parts/parts.tsx';
import { linkTo, parameter } from '../route.ts';
import {
  Form,
  HAPPENING_FIELDS,
  type Happening,
  Happenings,
  Other,
  Owner,
  useObject,
} from '../tokens/token-object.tsx';
import { shortAddress, textAt } from '../transactions/movements.ts';

const PAGE_ROWS = 25;
const HAPPENINGS = 10;

const KNOWN_QUERY = `query Collections($limit: Int, $offset: Int) {
  current_collections_v2(
    where: { token_standard: { _eq: "v2" } }
    order_by: [{ current_supply: desc }, { collection_id: asc }], limit: $limit, offset: $offset
  ) { collection_id collection_name current_supply creator_address }
}`;

interface KnownCollection {
  readonly collection_id: string;
  readonly collection_name: string;
  readonly current_supply: unknown;
  readonly creator_address: string;
}

function KnownCollections() {
  const offset = Number(parameter('offset')) || 0;
  const { data, isMissing } = useGraph<{ current_collections_v2: readonly KnownCollection[] }>(
    indexerRequest(KNOWN_QUERY, { limit: PAGE_ROWS, offset }),
  );
  if (isMissing) return null;
  if (data === undefined) return <Waiting />;
  const { current_collections_v2: list } = data;
  const further = { offset: offset + PAGE_ROWS };
  return (
    <Section title="Collections of this ledger">
      {list.length === 0 && <p class="hint">There are none{offset > 0 && ' further on'}.</p>}
      {list.length > 0 && (
        <Table
          style="collections cards"
          caption="Collections, those with most tokens first"
          columns={['Collection', '#Tokens', 'Creator']}
        >
          {list.map(({ collection_id: id, collection_name, current_supply, creator_address }) => (
            <tr key={id}>
              <td>
                <a href={linkTo('collection', { address: shortAddress(id) })}>{collection_name}</a>
              </td>
              <td class="number">{groupDigits(digitsOf(current_supply))}</td>
              <td>
                <AccountId hex={shortAddress(creator_address)} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Pager
        label="Pages"
        links={[
          ['First', offset > 0 && linkTo('collection')],
          ['Further', list.length === PAGE_ROWS && linkTo('collection', further)],
        ]}
      />
    </Section>
  );
}

const COLLECTION_QUERY = `query Collection($collection: String, $limit: Int) {
  current_token_ownerships_v2_aggregate(
    where: { current_token_data: { collection_id: { _eq: $collection } }, amount: { _gt: 0 } }
  ) { aggregate { count(columns: owner_address, distinct: true) } }
  token_activities_v2(
    where: { current_token_data: { collection_id: { _eq: $collection } } }
    order_by: [{ transaction_version: desc }, { event_index: desc }], limit: $limit
  ) { ${HAPPENING_FIELDS} }
}`;

interface CollectionAnswer {
  readonly current_token_ownerships_v2_aggregate: {
    readonly aggregate: { readonly count: number };
  };
  readonly token_activities_v2: readonly Happening[];
}

export function CollectionView() {
  const address = parameter('address');
  if (address !== '') return <Collection key={address} address={address} />;
  return (
    <>
      <Form view="collection" label="Collection" />
      <KnownCollections />
    </>
  );
}

function Collection({ address }: { address: string }) {
  const { asked, data } = useObject(address);
  const indexed = useGraph<CollectionAnswer>(
    indexerRequest(COLLECTION_QUERY, { collection: fullAddress(address), limit: HAPPENINGS }),
  );
  const { current_token_ownerships_v2_aggregate: owners, token_activities_v2: rows = [] } =
    indexed.data ?? {};
  const holders = owners && groupDigits(owners.aggregate.count);
  return (
    <>
      <Answered asked={asked} title="No collection">
        {() => {
          const collection = data('0x4::collection::Collection');
          if (collection === undefined) return <Other address={address} noun="collection" />;
          const supply =
            data('0x4::collection::ConcurrentSupply') ??
            data('0x4::collection::FixedSupply') ??
            data('0x4::collection::UnlimitedSupply');
          return (
            <>
              <p class="headline">{textAt(collection, 'name')}</p>
              <p>{textAt(collection, 'description')}</p>
              <Facts
                rows={[
                  ['Collection', <AccountId key="at" hex={address} full />],
                  ['Creator', <Owner key="by" hex={textAt(collection, 'creator')} />],
                  ['Tokens now', grouped(figure(supply, 'current_supply'))],
                  ['Tokens minted', grouped(figure(supply, 'total_minted'))],
                  ['Most tokens', grouped(mostOf(supply))],
                  ['Holders', holders],
                  ['Royalty', royaltyText(data('0x4::royalty::Royalty'))],
                  ['Document', <OutsideLink key="uri" uri={textAt(collection, 'uri') ?? ''} />],
                ]}
              />
              <Tokens address={address} />
              {rows.length > 0 && <Happenings title="What happened lately" rows={rows} areNamed />}
            </>
          );
        }}
      </Answered>
      <RequestPanel asked={asked} />
    </>
  );
}

function grouped(digits: string | undefined): string | undefined {
  return digits && groupDigits(digits);
}

/** A number, or the value of an aggregator. */
function figure(supply: Json | undefined, name: string): string | undefined {
  return textAt(supply, name) ?? textAt(supply, name, 'value');
}

function mostOf(supply: Json | undefined): string | undefined {
  const most = textAt(supply, 'max_supply') ?? textAt(supply, 'current_supply', 'max_value');
  return most === String((1n << 64n) - 1n) ? 'without limit' : most;
}

function royaltyText(royalty: Json | undefined): string | undefined {
  const [part, whole] = ['numerator', 'denominator'].map((name) => Number(textAt(royalty, name)));
  if (!part || !whole) return undefined;
  return `${(100 * part) / whole} %`;
}

const TOKENS_QUERY = `query Tokens($collection: String, $limit: Int, $offset: Int) {
  current_token_ownerships_v2(
    where: { current_token_data: { collection_id: { _eq: $collection } }, amount: { _gt: 0 } }
    order_by: [{ token_data_id: asc }], limit: $limit, offset: $offset
  ) {
    token_data_id amount token_standard owner_address
    current_token_data { token_name token_uri current_collection { collection_name collection_id } }
  }
}`;

function Tokens({ address }: { address: string }) {
  const offset = Number(parameter('offset')) || 0;
  const collection = fullAddress(address);
  const request = indexerRequest(TOKENS_QUERY, { collection, limit: PAGE_ROWS, offset });
  const { data, isMissing } = useGraph<{ current_token_ownerships_v2: readonly OwnedToken[] }>(
    request,
  );
  if (isMissing) {
    return <p class="note">This node has no index of tokens: start it with an indexer.</p>;
  }
  if (data === undefined) return <Waiting />;
  const { current_token_ownerships_v2: tokens } = data;
  return (
    <Section title="Tokens">
      {tokens.length === 0 && <p class="hint">It has no tokens{offset > 0 && ' further on'}.</p>}
      {tokens.length > 0 && <TokenTable tokens={tokens} isOfCollection />}
      <Pager
        label="Pages"
        links={[
          ['First', offset > 0 && linkTo('collection', { address })],
          [
            'Further',
            tokens.length === PAGE_ROWS &&
              linkTo('collection', { address, offset: offset + PAGE_ROWS }),
          ],
        ]}
      />
    </Section>
  );
}
