/** An account or an object: what it has, what it sent, what it published, what it emits. */
import { useState } from 'preact/hooks';
import type { JsonObject, JsonValue } from '../../../src/move/json/json-text.ts';
import { useAccountFacts } from '../account-facts.ts';
import { send } from '../api-client.ts';
import { useAnswer, useWork } from '../ask.ts';
import { NATIVE_COIN, useUnit } from '../assets.ts';
import { useListing } from '../cursor-pages.tsx';
import { AccountId, Copied } from '../ids.tsx';
import { field, isList, listField, parseJson, textField } from '../json-fields.ts';
import {
  accountRequest,
  balanceRequest,
  listingRequest,
  summariesRequest,
  transactionRequest,
} from '../ledger-requests.ts';
import { JsonView, TypeText } from '../move-text.tsx';
import { go, linkTo } from '../navigation.ts';
import { amountText, counted, groupDigits, readU64 } from '../number-text.ts';
import { Fact, Failure, QueryForm, TextField, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { routeHash } from '../route.ts';
import { StreamTable, streamsIn, useResources } from '../streams.tsx';
import { TransactionRows } from '../transaction-rows.tsx';
import type { ViewProps } from '../view.ts';
import { Section } from './transaction-view.tsx';

const TABS = [
  ['assets', 'Assets'],
  ['transactions', 'Transactions'],
  ['resources', 'Resources'],
  ['modules', 'Modules'],
  ['events', 'Event streams'],
  ['objects', 'Objects'],
] as const;
const TRANSACTIONS_AT_ONCE = 25;
const MODULES_PAGE_SIZE = 25;

interface TabProps {
  readonly address: string;
  readonly version: string | undefined;
}

export function AccountView({ parameter, version }: ViewProps) {
  const address = parameter('address');
  if (address === '') {
    return (
      <QueryForm
        label="Account"
        submit="Show account"
        onSubmit={(fields) => go(linkTo('account', fields))}
      >
        <TextField label="Address" name="address" required wide />
      </QueryForm>
    );
  }
  const shown = TABS.find(([name]) => name === parameter('show'))?.[0] ?? 'assets';
  return <Account key={address} {...{ address, version, shown }} />;
}

const TAB_CONTENTS = {
  assets: Assets,
  transactions: Transactions,
  resources: Resources,
  modules: Modules,
  events: Streams,
  objects: Objects,
};

function Account({ address, version, shown }: TabProps & { shown: (typeof TABS)[number][0] }) {
  const asked = useAnswer(accountRequest(address, version));
  const facts = useAccountFacts(address, version);
  const number = textField(asked.json, 'sequence_number');
  const key = textField(asked.json, 'authentication_key');
  const Shown = TAB_CONTENTS[shown];
  const isNothing = facts.isAccount === false && facts.isObject === false;
  return (
    <>
      {(asked.failure ?? facts.failure) !== undefined && (
        <Failure title="No account" error={asked.failure ?? facts.failure} />
      )}
      <dl class="facts">
        <Fact term={facts.isObject && !facts.isAccount ? 'Object' : 'Address'}>
          <AccountId hex={address} full />
        </Fact>
        {!isNothing && facts.isAccount && (
          <>
            <Fact term="Sequence number">{number && groupDigits(number)}</Fact>
            <Fact term="Authentication key">
              {key && (key === address ? 'the address itself' : <code>{key}</code>)}
            </Fact>
          </>
        )}
      </dl>
      {isNothing && (
        <p class="note warning" role="status">
          There is no account and no object at this address
          {version === undefined ? '' : ` at version ${groupDigits(version)}`}: no resource, no
          module, no transaction, no balance.
        </p>
      )}
      {!isNothing && facts.failure === undefined && (
        <>
          <nav class="tabs" aria-label="Parts of the account">
            <ul>
              {TABS.map(([name, text]) => (
                <li key={name}>
                  <a
                    href={linkTo('account', { address, show: name })}
                    aria-current={name === shown ? 'true' : undefined}
                  >
                    {text}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <Shown key={`${shown} ${version}`} address={address} version={version} />
        </>
      )}
      <RequestPanel asked={asked} />
    </>
  );
}

const COIN_STORE = /^0x1::coin::CoinStore<(.*)>$/;

function Assets({ address, version }: TabProps) {
  const { items, asked, more } = useResources(address, version);
  const seen = useSeenObjects(address, version);
  const coins = items.flatMap((resource) => {
    const coin = COIN_STORE.exec(textField(resource, 'type') ?? '')?.[1];
    return coin === undefined ? [] : [coin];
  });
  const stores = seen.objects.flatMap(({ asset }) => (asset === undefined ? [] : [asset]));
  const assets = [...new Set([NATIVE_COIN, ...coins, ...stores])];
  if (asked.failure !== undefined) return <Failure title="No assets" error={asked.failure} />;
  if (asked.answer === undefined) return <Waiting />;
  return (
    <Section title="Assets">
      <table class="assets cards">
        <caption class="visually-hidden">Balances of the account</caption>
        <thead>
          <tr>
            <th scope="col">Asset</th>
            <th scope="col" class="number">
              Balance
            </th>
            <th scope="col">History</th>
          </tr>
        </thead>
        <tbody>
          {assets.map((asset) => (
            <AssetRow key={asset} {...{ address, asset, version }} />
          ))}
        </tbody>
      </table>
      <p class="hint">
        Coins come from the account’s resources; fungible assets without a coin from the changes of
        its latest {TRANSACTIONS_AT_ONCE} transactions. This node has no index of owners.
      </p>
      <More more={more} />
    </Section>
  );
}

function AssetRow({ address, asset, version }: TabProps & { asset: string }) {
  const unit = useUnit(asset);
  const { answer, failure } = useAnswer(balanceRequest(address, asset, version));
  const balance = readU64(answer?.text.trim() ?? '');
  return (
    <tr>
      <td>
        {asset.includes('::') ? (
          <code>
            <TypeText type={asset} />
          </code>
        ) : (
          <AccountId hex={asset} />
        )}
      </td>
      <td class="number">
        {failure instanceof Error && failure.message}
        {balance !== undefined && (
          <span title={`${groupDigits(balance)} in the smallest unit`}>
            {amountText(balance, unit?.decimals ?? 0)} {unit?.symbol ?? 'in the smallest unit'}
          </span>
        )}
      </td>
      <td>
        <a href={linkTo('balance', { account: address, asset })}>
          Chart<span class="visually-hidden"> of {asset}</span>
        </a>
      </td>
    </tr>
  );
}

function Transactions({ address, version }: TabProps) {
  const asked = useAnswer(summariesRequest(address, TRANSACTIONS_AT_ONCE, version));
  if (asked.failure !== undefined) return <Failure title="No transactions" error={asked.failure} />;
  if (asked.json === undefined) return <Waiting />;
  const versions = summaryVersions(asked.json);
  const oldest = versions.at(-1);
  return (
    <Section title="Transactions sent">
      {versions.length === 0 && <p class="hint">It has sent nothing that is here.</p>}
      {versions.length > 0 && (
        <TransactionRows
          rows={versions}
          caption="Transactions that the account sent, newest first"
        />
      )}
      {versions.length === TRANSACTIONS_AT_ONCE && oldest !== undefined && oldest !== '0' && (
        <nav class="pager" aria-label="Pages">
          <a
            href={routeHash('account', {
              address,
              show: 'transactions',
              version: BigInt(oldest) - 1n,
            })}
          >
            Older: the account as of version {groupDigits(BigInt(oldest) - 1n)}
          </a>
        </nav>
      )}
    </Section>
  );
}

/** Versions of the summaries, newest first. */
function summaryVersions(json: JsonValue | undefined): string[] {
  const list = isList(json) ? json : [];
  return list.map((one) => textField(one, 'version') ?? '').reverse();
}

function Resources({ address, version }: TabProps) {
  const { items, asked, more } = useResources(address, version);
  const [filter, setFilter] = useState('');
  if (asked.failure !== undefined) return <Failure title="No resources" error={asked.failure} />;
  if (asked.answer === undefined && items.length === 0) return <Waiting />;
  const fits = (item: JsonValue) =>
    (textField(item, 'type') ?? '').toLowerCase().includes(filter.trim().toLowerCase());
  return (
    <Section title="Resources" count={items.length}>
      {items.length === 0 && <p class="hint">None.</p>}
      {items.length > 5 && (
        <div class="filter-line">
          <TextField label="Filter by type" name="filter" value={filter} onInput={setFilter} />
        </div>
      )}
      {items.filter(fits).map((item) => {
        const type = textField(item, 'type') ?? '';
        return (
          <details key={type} class="resource" open={items.length <= 5}>
            <summary>
              <code>{type}</code>
            </summary>
            <p class="hint">
              <TypeText type={type} />
            </p>
            <JsonView value={field(item, 'data') ?? null} />
          </details>
        );
      })}
      <More more={more} />
    </Section>
  );
}

function Modules({ address, version }: TabProps) {
  const { items, asked, more } = useListing((start) =>
    listingRequest(address, 'modules', { start, limit: MODULES_PAGE_SIZE, version }),
  );
  if (asked.failure !== undefined) return <Failure title="No modules" error={asked.failure} />;
  if (asked.answer === undefined && items.length === 0) return <Waiting />;
  return (
    <Section title="Modules" count={items.length}>
      {items.length === 0 && <p class="hint">It has published none.</p>}
      {items.length > 0 && (
        <ul class="links">
          {items.map((item) => {
            const abi = field(item, 'abi');
            const name = textField(abi, 'name') ?? '';
            return (
              <li key={name}>
                <a href={linkTo('module', { account: address, name })}>
                  <code>{name}</code>
                </a>{' '}
                <span class="hint">
                  {counted(listField(abi, 'exposed_functions').length, 'function')},{' '}
                  {counted(listField(abi, 'structs').length, 'type')}
                </span>
              </li>
            );
          })}
        </ul>
      )}
      <More more={more} />
    </Section>
  );
}

function Streams({ address, version }: TabProps) {
  const { items, asked, more } = useResources(address, version);
  if (asked.failure !== undefined) return <Failure title="No streams" error={asked.failure} />;
  if (asked.answer === undefined && items.length === 0) return <Waiting />;
  const streams = items.flatMap(streamsIn);
  return (
    <Section title="Event streams" count={streams.length}>
      {streams.length === 0 && <p class="hint">No resource here has an event handle.</p>}
      {streams.length > 0 && <StreamTable streams={streams} />}
      <More more={more} />
    </Section>
  );
}

interface SeenObject {
  readonly address: string;
  readonly types: readonly string[];
  /** The metadata of the asset that it stores. */
  readonly asset: string | undefined;
}

/** Objects that belong to the account according to the changes of its latest transactions. */
function useSeenObjects(address: string, version: string | undefined) {
  const sent = useAnswer(summariesRequest(address, TRANSACTIONS_AT_ONCE, version));
  const [objects, setObjects] = useState<readonly SeenObject[]>([]);
  const [isComplete, setComplete] = useState(false);
  const versions = summaryVersions(sent.json);
  useWork(
    async (signal) => {
      if (sent.json === undefined) return;
      const found = new Map<string, SeenObject>();
      for (const one of versions) {
        const answer = await send(transactionRequest(one), signal);
        for (const object of ownedIn(parseJson(answer.text), address)) {
          if (!found.has(object.address)) found.set(object.address, object);
        }
      }
      setObjects([...found.values()]);
      setComplete(true);
    },
    [sent.json === undefined, versions.join()],
  );
  return { objects, isComplete };
}

function ownedIn(transaction: JsonValue, owner: string): SeenObject[] {
  const resources = new Map<string, Map<string, JsonValue>>();
  for (const change of listField(transaction, 'changes')) {
    const [address, data] = [textField(change, 'address'), field(change, 'data')];
    const type = textField(data, 'type');
    if (address === undefined || type === undefined) continue;
    const known = resources.get(address) ?? new Map<string, JsonValue>();
    resources.set(address, known.set(type, field(data, 'data') ?? null));
  }
  return [...resources].flatMap(([address, types]) => {
    if (textField(types.get('0x1::object::ObjectCore'), 'owner') !== owner) return [];
    const store = types.get('0x1::fungible_asset::FungibleStore');
    const asset = textField(field(store, 'metadata') as JsonObject | undefined, 'inner');
    return [{ address, types: [...types.keys()], asset }];
  });
}

function Objects({ address, version }: TabProps) {
  const { objects, isComplete } = useSeenObjects(address, version);
  return (
    <Section title="Objects" count={objects.length}>
      <p class="hint">
        Found in the changes of the account’s latest {TRANSACTIONS_AT_ONCE} transactions; this node
        has no index of owners.
      </p>
      {!isComplete && <Waiting />}
      {isComplete && objects.length === 0 && <p class="hint">None seen there.</p>}
      {objects.map((object) => (
        <article key={object.address} class="item">
          <AccountId hex={object.address} full />
          <p class="hint">{object.types.join(', ')}</p>
          {object.asset && (
            <p>
              Stores{' '}
              <Copied text={object.asset} href={linkTo('account', { address: object.asset })}>
                <code>{object.asset}</code>
              </Copied>
            </p>
          )}
        </article>
      ))}
    </Section>
  );
}

function More({ more }: { more: (() => void) | undefined }) {
  if (more === undefined) return null;
  return (
    <p class="table-foot">
      <button type="button" onClick={more}>
        More
      </button>
    </p>
  );
}
