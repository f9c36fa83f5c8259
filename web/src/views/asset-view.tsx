/** An asset: its name and supply, holders, transfers, and its supply over versions. */
import { useState } from 'preact/hooks';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { formatJson, type Json } from '../asking/exact-json.ts';
import { digitsOf, fullAddress, indexerRequest, usecsOf, useGraph } from '../asking/indexer.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { NATIVE_COIN, viewRequest } from '../asking/requests.ts';
import { Amount } from '../assets/amounts.tsx';
import { metadataRequest, useUnit } from '../assets/assets.ts';
import { supplyBody, supplyIn } from '../assets/supply.ts';
import { SupplyChart } from '../assets/supply-chart.tsx';
import { TRANSFERS_QUERY, type TransfersAnswer, transfersPage } from '../assets/transfers.ts';
import { AccountId, DeclaredName, Time, VersionId } from '../parts/ids.tsx';
import { amountText, readU64, shareText } from '../parts/number-text.ts';
import { Facts, LookUp, Pager, Section, Table, Tabs, Waiting } from '../parts/parts.tsx';
import { linkTo, parameter } from '../route.ts';
import { NATIVE_ASSET, shortAddress, textAt } from '../transactions/movements.ts';

const PAGE_ROWS = 25;
const TABS = { info: 'Supply', holders: 'Holders', transactions: 'Transfers' } as const;
type TabName = keyof typeof TABS;

export function AssetView() {
  const asset = parameter('asset');
  if (asset !== '') return <Asset key={asset} asset={asset} />;
  return (
    <>
      <LookUp
        view="asset"
        label="Asset"
        submit="Show asset"
        fields={[
          {
            label: 'Asset',
            name: 'asset',
            hint: 'The address of a fungible asset’s metadata, or a coin type.',
            suggestions: [NATIVE_COIN, NATIVE_ASSET],
            required: true,
            wide: true,
          },
        ]}
      />
      <p class="table-foot">
        <a href={linkTo('collection')}>Collections of tokens</a>
      </p>
      <KnownAssets />
    </>
  );
}

const KNOWN_QUERY = `query Assets($limit: Int, $offset: Int) {
  fungible_asset_metadata(order_by: [{ last_transaction_version: asc }, { asset_type: asc }], limit: $limit, offset: $offset) {
    asset_type name symbol
  }
}`;

interface KnownAsset {
  readonly asset_type: string;
  readonly name: string;
  readonly symbol: string;
}

function KnownAssets() {
  const offset = Number(parameter('offset')) || 0;
  const request = indexerRequest(KNOWN_QUERY, { limit: PAGE_ROWS, offset });
  const { data, isMissing } = useGraph<{ fungible_asset_metadata: readonly KnownAsset[] }>(request);
  if (isMissing) return null;
  if (data === undefined) return <Waiting />;
  const { fungible_asset_metadata: list } = data;
  return (
    <Section title="Assets of this ledger">
      <Table style="assets cards" caption="Assets" columns={['Asset', 'Symbol', 'Type']}>
        {list.map(({ asset_type, name, symbol }) => (
          <tr key={asset_type}>
            <td>
              <a href={linkTo('asset', { asset: shortAddress(asset_type) })}>{name}</a>
            </td>
            <td>{symbol}</td>
            <td>
              <code class="type-of">{shortAddress(asset_type)}</code>
            </td>
          </tr>
        ))}
      </Table>
      <Pager
        label="Pages"
        links={[
          ['First', offset > 0 && linkTo('asset')],
          ['Further', list.length === PAGE_ROWS && linkTo('asset', { offset: offset + PAGE_ROWS })],
        ]}
      />
    </Section>
  );
}

/** The coin and the fungible asset of a paired asset. */
function usePair(asset: string): {
  readonly coin?: string;
  readonly metadata?: string;
  readonly isKnown: boolean;
} {
  const isCoin = asset.includes('::');
  const body = isCoin
    ? { function: '0x1::coin::paired_metadata', type_arguments: [asset], arguments: [] }
    : { function: '0x1::coin::paired_coin', type_arguments: [], arguments: [asset] };
  const { json, failure } = useAnswer<readonly Json[]>(viewRequest(formatJson(body)));
  const isKnown = json !== undefined || failure !== undefined;
  const other = (json?.[0] as { vec?: readonly Json[] } | undefined)?.vec?.[0];
  if (isCoin) {
    const metadata = textAt(other, 'inner');
    return { coin: asset, isKnown, ...(metadata !== undefined && { metadata }) };
  }
  const [address, module, name] = ['account_address', 'module_name', 'struct_name'].map((field) =>
    textAt(other, field),
  );
  if (address === undefined || module === undefined || name === undefined) {
    return { metadata: asset, isKnown };
  }
  return { metadata: asset, isKnown, coin: `${address}::${textOfHex(module)}::${textOfHex(name)}` };
}

function textOfHex(hex: string): string {
  return hex.slice(2).replaceAll(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

interface MetadataAnswer {
  readonly data: {
    readonly name: string;
    readonly symbol: string;
    readonly decimals: number;
    readonly icon_uri?: string;
    readonly project_uri?: string;
  };
}

function Asset({ asset }: { asset: string }) {
  const asked = useAnswer<MetadataAnswer>(metadataRequest(asset));
  const pair = usePair(asset);
  const supply = useAnswer<readonly Json[]>(viewRequest(supplyBody(asset)));
  const total = supplyIn(supply.json);
  const shown = parameter('show');
  const tab: TabName = shown in TABS ? (shown as TabName) : 'info';
  const names = [pair.metadata, pair.coin].filter((one) => one !== undefined);
  return (
    <>
      <Answered asked={asked} title="No asset">
        {({ data: { name, symbol, decimals, project_uri } }) => (
          <>
            <p class="headline">
              {name} <span class="symbol">{symbol}</span>
            </p>
            <Facts
              rows={[
                [
                  'Supply',
                  total === undefined ? (
                    supply.json && 'not tracked'
                  ) : (
                    <Amount asset={asset} amount={total} />
                  ),
                ],
                ['Decimals', String(decimals)],
                ['Metadata', pair.metadata && <AccountId key="at" hex={pair.metadata} full />],
                ['Coin type', pair.coin && <DeclaredName name={pair.coin} shown={pair.coin} />],
                ['Project', project_uri],
              ]}
            />
            <Tabs
              label="Parts of the asset"
              tabs={Object.entries(TABS).map(([one, text]) => ({
                text,
                href: linkTo('asset', { asset, show: one === 'info' ? undefined : one }),
                isShown: one === tab,
              }))}
            />
            {tab === 'info' && <SupplySection asset={asset} decimals={decimals} />}
            {tab !== 'info' && !pair.isKnown && <Waiting />}
            {tab === 'holders' && pair.isKnown && <Holders {...{ asset, names, total }} />}
            {tab === 'transactions' && pair.isKnown && <Transfers {...{ asset, names }} />}
          </>
        )}
      </Answered>
      <RequestPanel asked={asked} />
    </>
  );
}

/** It takes many requests, so it is shown only on demand. */
function SupplySection({ asset, decimals }: { asset: string; decimals: number }) {
  const [isWanted, setWanted] = useState(false);
  return (
    <Section title="Supply over versions">
      {isWanted ? (
        <SupplyChart asset={asset} decimals={decimals} />
      ) : (
        <button type="button" onClick={() => setWanted(true)}>
          Show the supply over versions
        </button>
      )}
    </Section>
  );
}

function NeedsIndexer() {
  return (
    <p class="note">
      This node has no index of holders and transfers. <code>daybook serve --indexer</code> and{' '}
      <code>daybook localnet</code> have one.
    </p>
  );
}

const HOLDERS_QUERY = `query Holders($assets: [String!], $limit: Int, $offset: Int) {
  current_fungible_asset_balances(
    where: { asset_type: { _in: $assets }, amount: { _gt: 0 } }
    order_by: [{ amount: desc }, { storage_id: asc }], limit: $limit, offset: $offset
  ) { owner_address amount is_frozen }
  current_fungible_asset_balances_aggregate(where: { asset_type: { _in: $assets }, amount: { _gt: 0 } }) {
    aggregate { count }
  }
}`;

interface HoldersAnswer {
  readonly current_fungible_asset_balances: readonly {
    readonly owner_address: string;
    readonly amount: unknown;
    readonly is_frozen: boolean;
  }[];
  readonly current_fungible_asset_balances_aggregate: {
    readonly aggregate: { readonly count: number };
  };
}

interface PartProps {
  readonly asset: string;
  /** The names that the indexer may use for it. */
  readonly names: readonly string[];
}

function Holders({ asset, names, total }: PartProps & { total: bigint | undefined }) {
  const offset = Number(parameter('offset')) || 0;
  const assets = names.map(fullOrType);
  const request = indexerRequest(HOLDERS_QUERY, { assets, limit: PAGE_ROWS, offset });
  const { data, isMissing } = useGraph<HoldersAnswer>(request);
  const unit = useUnit(asset);
  if (isMissing) return <NeedsIndexer />;
  if (data === undefined) return <Waiting />;
  const { current_fungible_asset_balances: rows } = data;
  const place = { asset, show: 'holders' };
  return (
    <Section title="Holders" count={data.current_fungible_asset_balances_aggregate.aggregate.count}>
      <Table
        style="holders cards"
        caption="Who holds most"
        columns={['Holder', '#Balance', '#Share of supply']}
      >
        {rows.map(({ owner_address, amount, is_frozen }, at) => {
          const digits = BigInt(digitsOf(amount));
          return (
            <tr key={at}>
              <td>
                <AccountId hex={shortAddress(owner_address)} full />{' '}
                {is_frozen && <span class="badge">frozen</span>}
              </td>
              <td class="number">{amountText(digits, unit?.decimals ?? 0)}</td>
              <td class="number">
                {total !== undefined && total > 0n && shareText(digits, total)}
              </td>
            </tr>
          );
        })}
      </Table>
      <Pager
        label="Pages"
        links={[
          ['First', offset > 0 && linkTo('asset', place)],
          [
            'Further',
            rows.length === PAGE_ROWS && linkTo('asset', { ...place, offset: offset + PAGE_ROWS }),
          ],
        ]}
      />
    </Section>
  );
}

function fullOrType(name: string): string {
  return name.includes('::') ? name : fullAddress(name);
}

function Transfers({ asset, names }: PartProps) {
  const page = transfersPage({
    assets: names.map(fullOrType),
    ...{ before: readU64(parameter('before')), event: readU64(parameter('event')) },
    limit: PAGE_ROWS,
  });
  const request = indexerRequest(TRANSFERS_QUERY, page);
  const { data, isMissing } = useGraph<TransfersAnswer>(request);
  if (isMissing) return <NeedsIndexer />;
  if (data === undefined) return <Waiting />;
  const { fungible_asset_activities: rows } = data;
  const last = rows.at(-1);
  const older = rows.length === PAGE_ROWS && {
    before: digitsOf(last!.transaction_version),
    event: digitsOf(last!.event_index),
  };
  const place = { asset, show: 'transactions' };
  return (
    <Section title="Transfers">
      <Table
        style="transfers cards"
        caption="What moved, newest first"
        columns={['#Version', 'When (UTC)', 'Account', '#Change', 'Function']}
      >
        {rows.map((row, at) => {
          const { owner_address: owner, entry_function_id_str: called } = row;
          const digits = BigInt(digitsOf(row.amount ?? 0));
          const amount = /Withdraw/.test(row.type) ? -digits : digits;
          return (
            <tr key={at}>
              <td class="number">
                <VersionId version={digitsOf(row.transaction_version)} />
              </td>
              <td class="when">
                <Time usecs={usecsOf(row.transaction_timestamp)} isRelative />
              </td>
              <td>{owner && <AccountId hex={shortAddress(owner)} />}</td>
              <td class="number">
                <Amount asset={asset} amount={amount} isChange />
              </td>
              <td>{called && <DeclaredName name={called} />}</td>
            </tr>
          );
        })}
      </Table>
      {rows.length === 0 && <p class="hint">Nothing moved.</p>}
      <Pager
        label="Pages"
        links={[
          ['Newest', parameter('before') !== '' && linkTo('asset', place)],
          ['Older', older && linkTo('asset', { ...place, ...older })],
        ]}
      />
    </Section>
  );
}
