/** Common parts of the pages of collections and tokens. */
import type { Resource } from '../asking/answers.ts';
import { useAnswer } from '../asking/ask.tsx';
import type { Json } from '../asking/exact-json.ts';
import { digitsOf, usecsOf } from '../asking/indexer.ts';
import { listingRequest } from '../asking/requests.ts';
import { AccountId, Time, VersionId } from '../parts/ids.tsx';
import { LookUp, Section, Table } from '../parts/parts.tsx';
import { linkTo } from '../route.ts';
import { shortAddress } from '../transactions/movements.ts';

export function useObject(address: string) {
  const asked = useAnswer<readonly Resource[]>(
    listingRequest(address, 'resources', { limit: 100 }),
  );
  const data = (type: string): Json | undefined =>
    asked.json?.find((one) => one.type === type)?.data;
  return { asked, data };
}

export function Form({ view, label }: { view: 'collection' | 'token'; label: string }) {
  return (
    <LookUp
      view={view}
      label={label}
      submit={`Show ${label.toLowerCase()}`}
      fields={[{ label: 'Address', name: 'address', required: true, wide: true }]}
    />
  );
}

/** Shown when the address has no such object. */
export function Other({ address, noun }: { address: string; noun: string }) {
  return (
    <p class="note warning" role="status">
      There is no {noun} at this address. <a href={linkTo('account', { address })}>What is there</a>
    </p>
  );
}

export function Owner({ hex }: { hex: string | undefined }) {
  return hex === undefined ? null : <AccountId hex={hex} full />;
}

/** A token activity, from the indexer's tables. */
export interface Happening {
  readonly transaction_version: unknown;
  readonly transaction_timestamp: string;
  readonly type: string;
  readonly from_address: string | null;
  readonly to_address: string | null;
  readonly token_data_id: string;
  readonly current_token_data?: { readonly token_name: string } | null;
}

/** The fields of a `Happening`. */
export const HAPPENING_FIELDS =
  'transaction_version transaction_timestamp type from_address to_address token_data_id ' +
  'current_token_data { token_name }';

interface HappeningsProps {
  readonly title: string;
  readonly rows: readonly Happening[];
  /** Whether the rows are of several tokens. */
  readonly areNamed?: boolean;
}

export function Happenings({ title, rows, areNamed = false }: HappeningsProps) {
  const columns = ['#Version', 'When (UTC)', 'What', ...(areNamed ? ['Token'] : []), 'From', 'To'];
  return (
    <Section title={title}>
      <Table style="happenings cards" caption={`${title}, newest first`} columns={columns}>
        {rows.map((row, at) => (
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
            {areNamed && (
              <td>
                <a href={linkTo('token', { address: shortAddress(row.token_data_id) })}>
                  {row.current_token_data?.token_name || shortAddress(row.token_data_id)}
                </a>
              </td>
            )}
            <td class="from">
              {row.from_address && <AccountId hex={shortAddress(row.from_address)} isBrief />}
            </td>
            <td class="to">
              {row.to_address && <AccountId hex={shortAddress(row.to_address)} isBrief />}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
