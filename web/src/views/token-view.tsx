/** Collections and tokens: their names, who made and owns them, and the tokens of a collection. */
import { OutsideLink, type OwnedToken, TokenTable } from '../account/owned.tsx';
import type { Resource } from '../answers.ts';
import { Answered, useAnswer } from '../ask.tsx';
import { isObject, type Json } from '../exact-json.ts';
import { AccountId, Time, VersionId } from '../ids.tsx';
import { digitsOf, fullAddress, indexerRequest, usecsOf, useGraph } from '../indexer.ts';
import { JsonView } from '../move-text.tsx';
import { shortAddress, textAt } from '../movements.ts';
import { groupDigits } from '../number-text.ts';
import { Facts, LookUp, Pager, Section, Table, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { listingRequest } from '../requests.ts';
import { linkTo, parameter } from '../route.ts';

const PAGE_ROWS = 25;

function useObject(address: string) {
  const asked = useAnswer<readonly Resource[]>(
    listingRequest(address, 'resources', { limit: 100 }),
  );
  const data = (type: string): Json | undefined =>
    asked.json?.find((one) => one.type === type)?.data;
  return { asked, data };
}

function Form({ view, label }: { view: 'collection' | 'token'; label: string }) {
  return (
    <LookUp
      view={view}
      label={label}
      submit={`Show ${label.toLowerCase()}`}
      fields={[{ label: 'Address', name: 'address', required: true, wide: true }]}
    />
  );
}

/** An object that is something else. */
function Other({ address, noun }: { address: string; noun: string }) {
  return (
    <p class="note warning" role="status">
      There is no {noun} at this address. <a href={linkTo('account', { address })}>What is there</a>
    </p>
  );
}

export function CollectionView() {
  const address = parameter('address');
  return address === '' ? (
    <Form view="collection" label="Collection" />
  ) : (
    <Collection key={address} address={address} />
  );
}

function Collection({ address }: { address: string }) {
  const { asked, data } = useObject(address);
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
                  ['Royalty', royaltyText(data('0x4::royalty::Royalty'))],
                  ['Document', <OutsideLink key="uri" uri={textAt(collection, 'uri') ?? ''} />],
                ]}
              />
              <Tokens address={address} />
            </>
          );
        }}
      </Answered>
      <RequestPanel asked={asked} />
    </>
  );
}

function Owner({ hex }: { hex: string | undefined }) {
  return hex === undefined ? null : <AccountId hex={hex} full />;
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
      {tokens.length > 0 && <TokenTable tokens={tokens} />}
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

export function TokenView() {
  const address = parameter('address');
  return address === '' ? (
    <Form view="token" label="Token" />
  ) : (
    <Token key={address} address={address} />
  );
}

function Token({ address }: { address: string }) {
  const { asked, data } = useObject(address);
  return (
    <>
      <Answered asked={asked} title="No token">
        {() => {
          const token = data('0x4::token::Token');
          if (token === undefined) return <Other address={address} noun="token" />;
          const identifiers = data('0x4::token::TokenIdentifiers');
          const name = textAt(token, 'name') || textAt(identifiers, 'name', 'value') || address;
          const collection = textAt(token, 'collection', 'inner');
          const properties = data('0x4::property_map::PropertyMap');
          const inner = isObject(properties) ? properties['inner'] : undefined;
          return (
            <>
              <p class="headline">{name}</p>
              <p>{textAt(token, 'description')}</p>
              <Facts
                rows={[
                  ['Token', <AccountId key="at" hex={address} full />],
                  [
                    'Owner',
                    <Owner key="owner" hex={textAt(data('0x1::object::ObjectCore'), 'owner')} />,
                  ],
                  [
                    'Collection',
                    collection && (
                      <a href={linkTo('collection', { address: collection })}>
                        <code>{collection}</code>
                      </a>
                    ),
                  ],
                  ['Number', textAt(identifiers, 'index', 'value')],
                  [
                    'Picture or document',
                    <OutsideLink key="uri" uri={textAt(token, 'uri') ?? ''} />,
                  ],
                ]}
              />
              {inner !== undefined && (
                <Section title="Properties">
                  <JsonView value={inner} />
                </Section>
              )}
              <Happenings address={address} />
            </>
          );
        }}
      </Answered>
      <RequestPanel asked={asked} />
    </>
  );
}

const HAPPENINGS_QUERY = `query Happenings($token: String, $limit: Int) {
  token_activities_v2(
    where: { token_data_id: { _eq: $token } }
    order_by: [{ transaction_version: desc }, { event_index: desc }], limit: $limit
  ) { transaction_version transaction_timestamp type from_address to_address }
}`;

interface Happening {
  readonly transaction_version: unknown;
  readonly transaction_timestamp: string;
  readonly type: string;
  readonly from_address: string | null;
  readonly to_address: string | null;
}

function Happenings({ address }: { address: string }) {
  const request = indexerRequest(HAPPENINGS_QUERY, {
    token: fullAddress(address),
    limit: PAGE_ROWS,
  });
  const { data } = useGraph<{ token_activities_v2: readonly Happening[] }>(request);
  if (data === undefined) return null;
  return (
    <Section title="What happened to it">
      <Table
        style="happenings cards"
        caption="What happened to the token, newest first"
        columns={['#Version', 'When', 'What', 'From', 'To']}
      >
        {data.token_activities_v2.map((row, at) => (
          <tr key={at}>
            <td class="number">
              <VersionId version={digitsOf(row.transaction_version)} />
            </td>
            <td class="when">
              <Time usecs={usecsOf(row.transaction_timestamp)} isRelative />
            </td>
            <td>
              {row.type
                .split('::')
                .at(-1)!
                .replace(/Event$/, '')}
            </td>
            <td>{row.from_address && <AccountId hex={shortAddress(row.from_address)} />}</td>
            <td>{row.to_address && <AccountId hex={shortAddress(row.to_address)} />}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
