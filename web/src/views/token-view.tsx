/** A token: its name and owner, its properties, and its activities. */
import { OutsideLink } from '../account/owned.tsx';
import type { Resource } from '../asking/answers.ts';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { fullAddress, indexerRequest, useGraph } from '../asking/indexer.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { resourceRequest } from '../asking/requests.ts';
import { AccountId } from '../parts/ids.tsx';
import { Facts, Section } from '../parts/parts.tsx';
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
import { propertiesOf } from '../tokens/token-properties.ts';
import { textAt } from '../transactions/movements.ts';

const HAPPENINGS = 25;

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
          const properties = propertiesOf(data('0x4::property_map::PropertyMap'));
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
                  ['Collection', collection && <CollectionLink key="of" address={collection} />],
                  ['Number', textAt(identifiers, 'index', 'value')],
                  [
                    'Picture or document',
                    <OutsideLink key="uri" uri={textAt(token, 'uri') ?? ''} />,
                  ],
                ]}
              />
              {properties.length > 0 && (
                <Section title="Properties" count={properties.length}>
                  <Facts
                    rows={properties.map(({ name: property, type, value }) => [
                      property,
                      <>
                        {value} <span class="hint">{type}</span>
                      </>,
                    ])}
                  />
                </Section>
              )}
              <HappeningsOf address={address} />
            </>
          );
        }}
      </Answered>
      <RequestPanel asked={asked} />
    </>
  );
}

/** Shows the collection's name, if the node has it. */
function CollectionLink({ address }: { address: string }) {
  const { json } = useAnswer<Resource>(resourceRequest(address, '0x4::collection::Collection'));
  const name = textAt(json?.data, 'name');
  return (
    <a href={linkTo('collection', { address })} title={address}>
      {name || <code>{address}</code>}
    </a>
  );
}

const HAPPENINGS_QUERY = `query Happenings($token: String, $limit: Int) {
  token_activities_v2(
    where: { token_data_id: { _eq: $token } }
    order_by: [{ transaction_version: desc }, { event_index: desc }], limit: $limit
  ) { ${HAPPENING_FIELDS} }
}`;

function HappeningsOf({ address }: { address: string }) {
  const request = indexerRequest(HAPPENINGS_QUERY, {
    token: fullAddress(address),
    limit: HAPPENINGS,
  });
  const { data } = useGraph<{ token_activities_v2: readonly Happening[] }>(request);
  return data === undefined ? null : (
    <Happenings title="What happened to it" rows={data.token_activities_v2} />
  );
}
