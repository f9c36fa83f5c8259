/** What an account owns, from the indexer's tables; without them, objects seen in the account's own transactions. */
import { useState } from 'preact/hooks';
import type { Resource, Transaction } from '../asking/answers.ts';
import { send } from '../asking/api-client.ts';
import { useAnswer, useWork } from '../asking/ask.tsx';
import { parseJson } from '../asking/exact-json.ts';
import { digitsOf, fullAddress, indexerRequest, useGraph } from '../asking/indexer.ts';
import { resourceRequest, summariesRequest, transactionRequest } from '../asking/requests.ts';
import { AccountId } from '../parts/ids.tsx';
import { groupDigits } from '../parts/number-text.ts';
import { Pager, Section, Table, Waiting } from '../parts/parts.tsx';
import { linkTo, parameter } from '../route.ts';
import { shortAddress } from '../transactions/movements.ts';
import { OBJECT_CORE } from './account-facts.ts';

const PAGE_ROWS = 25;
const TRANSACTIONS_LOOKED_AT = 25;

const QUERY = `query Owned($owner: String, $limit: Int, $offset: Int) {
  current_token_ownerships_v2(
    where: { owner_address: { _eq: $owner }, amount: { _gt: 0 } }
    order_by: [{ last_transaction_version: desc }, { token_data_id: asc }]
    limit: $limit, offset: $offset
  ) {
    token_data_id amount token_standard
    current_token_data { token_name token_uri current_collection { collection_name collection_id } }
  }
  current_token_ownerships_v2_aggregate(where: { owner_address: { _eq: $owner }, amount: { _gt: 0 } }) {
    aggregate { count }
  }
  current_objects(
    where: { owner_address: { _eq: $owner }, is_deleted: { _eq: false } }
    order_by: [{ last_transaction_version: desc }, { object_address: asc }]
    limit: $limit, offset: $offset
  ) { object_address last_transaction_version }
}`;

export interface OwnedToken {
  readonly token_data_id: string;
  readonly amount: unknown;
  readonly token_standard: string;
  /** Present in queries for tokens of several owners. */
  readonly owner_address?: string;
  readonly current_token_data?: {
    readonly token_name: string;
    readonly token_uri: string;
    readonly current_collection?: {
      readonly collection_name: string;
      readonly collection_id: string;
    } | null;
  } | null;
}

interface OwnedAnswer {
  readonly current_token_ownerships_v2: readonly OwnedToken[];
  readonly current_token_ownerships_v2_aggregate: {
    readonly aggregate: { readonly count: number };
  };
  readonly current_objects: readonly {
    readonly object_address: string;
    readonly last_transaction_version: unknown;
  }[];
}

export function Owned({ address }: { address: string }) {
  const offset = Number(parameter('offset')) || 0;
  const owner = fullAddress(address);
  const request = indexerRequest(QUERY, { owner, limit: PAGE_ROWS, offset });
  const { data, isMissing } = useGraph<OwnedAnswer>(request);
  if (isMissing) return <SeenObjects address={address} />;
  if (data === undefined) return <Waiting />;
  const { current_token_ownerships_v2: tokens, current_objects: objects } = data;
  const { count } = data.current_token_ownerships_v2_aggregate.aggregate;
  const place = { address, show: 'objects' };
  const hasMore = tokens.length === PAGE_ROWS || objects.length === PAGE_ROWS;
  return (
    <>
      <Section title="Tokens" count={count}>
        {tokens.length === 0 && <p class="hint">It has no tokens{offset > 0 && ' further on'}.</p>}
        {tokens.length > 0 && <TokenTable tokens={tokens} />}
      </Section>
      <Section title="Objects">
        {objects.length === 0 && (
          <p class="hint">It has no objects{offset > 0 && ' further on'}.</p>
        )}
        <ul class="links wide">
          {objects.map(({ object_address }) => (
            <li key={object_address}>
              <AccountId hex={shortAddress(object_address)} full />
            </li>
          ))}
        </ul>
      </Section>
      <Pager
        label="Pages"
        links={[
          ['First', offset > 0 && linkTo('account', place)],
          ['Further', hasMore && linkTo('account', { ...place, offset: offset + PAGE_ROWS })],
        ]}
      />
    </>
  );
}

interface TokenTableProps {
  readonly tokens: readonly OwnedToken[];
  /** Whether all rows are of one collection and of different owners, instead of the opposite. */
  readonly isOfCollection?: boolean;
}

export function TokenTable({ tokens, isOfCollection = false }: TokenTableProps) {
  const party = isOfCollection ? 'Owner' : 'Collection';
  return (
    <Table
      style="tokens cards"
      caption="Tokens"
      columns={['Token', party, '#Amount', 'Picture or document']}
    >
      {tokens.map((token) => {
        const { token_data_id: id, amount, token_standard, owner_address: owner } = token;
        const name = token.current_token_data?.token_name || id;
        return (
          <tr key={`${id} ${owner}`}>
            <td>
              {token_standard === 'v2' ? (
                <a href={linkTo('token', { address: shortAddress(id) })}>{name}</a>
              ) : (
                name
              )}
            </td>
            <td>
              {isOfCollection ? (
                owner && <AccountId hex={shortAddress(owner)} />
              ) : (
                <CollectionOf token={token} />
              )}
            </td>
            <td class="number">{groupDigits(digitsOf(amount))}</td>
            <td>
              <OutsideLink uri={token.current_token_data?.token_uri ?? ''} />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

function CollectionOf({ token: { token_standard, current_token_data } }: { token: OwnedToken }) {
  const { collection_name, collection_id } = current_token_data?.current_collection ?? {};
  if (collection_id === undefined || token_standard !== 'v2') return <>{collection_name}</>;
  const address = shortAddress(collection_id);
  return <a href={linkTo('collection', { address })}>{collection_name}</a>;
}

/** A link to another site: this page only sends requests to its node, but the reader may follow the link. */
export function OutsideLink({ uri }: { uri: string }) {
  if (!/^https?:\/\//.test(uri)) return <span class="hint">{uri}</span>;
  return (
    <a href={uri} target="_blank" rel="noreferrer">
      {uri.replace(/^https?:\/\//, '')}
    </a>
  );
}

/** Objects that belonged to the account after its latest transactions, with their resources. */
function useSeenObjects(address: string): ReadonlyMap<string, readonly string[]> | undefined {
  const { json: sent } = useAnswer<readonly { readonly version: string }[]>(
    summariesRequest(address, TRANSACTIONS_LOOKED_AT),
  );
  const versions = sent?.map(({ version }) => version);
  const [objects, setObjects] = useState<ReadonlyMap<string, readonly string[]>>();
  useWork(
    async (signal) => {
      if (versions === undefined) return;
      const found = new Map<string, string[]>();
      for (const version of versions) {
        const { text } = await send(transactionRequest(version), signal);
        const { changes = [] } = parseJson<Transaction>(text);
        for (const { address: object, data } of changes) {
          const { type, data: core } = (data ?? {}) as Partial<Resource>;
          if (type !== OBJECT_CORE || object === undefined || core?.['owner'] !== address) continue;
          const ofObject = changes.filter((change) => change.address === object);
          found.set(
            object,
            ofObject.map((change) => String(change.data?.['type'])),
          );
        }
      }
      setObjects(found);
    },
    [versions?.join()],
  );
  return objects;
}

function SeenObjects({ address }: { address: string }) {
  const objects = useSeenObjects(address);
  return (
    <Section title="Objects" count={objects?.size}>
      <p class="hint">
        Seen in the changes of the account’s latest {TRANSACTIONS_LOOKED_AT} transactions, and
        looked up again. This node has no index of owners: objects that were not touched there, or
        that others gave to the account, are not known here.
      </p>
      {objects === undefined && <Waiting />}
      {objects?.size === 0 && <p class="hint">None seen there.</p>}
      {[...(objects ?? [])].map(([object, types]) => (
        <SeenObject key={object} {...{ address, object, types }} />
      ))}
    </Section>
  );
}

interface SeenObjectProps {
  readonly address: string;
  readonly object: string;
  readonly types: readonly string[];
}

function SeenObject({ address, object, types }: SeenObjectProps) {
  const { json, failure } = useAnswer<Resource>(resourceRequest(object, OBJECT_CORE));
  const owner = json && String(json.data['owner']);
  return (
    <article class="item">
      <AccountId hex={object} full />
      <p class="hint">{types.join(', ')}</p>
      <p>
        {failure instanceof Error && failure.message}
        {owner === address && 'The account owns it.'}
        {owner !== undefined && owner !== address && (
          <>
            It belongs to <AccountId hex={owner} /> now.
          </>
        )}
      </p>
    </article>
  );
}
