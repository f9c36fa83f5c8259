/** An account or an object: what it has, what it sent, what it published, what it emits. */
import { useState } from 'preact/hooks';
import { OBJECT_CORE, useAccountFacts } from '../account-facts.ts';
import type { HeldBalance, ModuleAnswer, Resource, Transaction } from '../answers.ts';
import { send } from '../api-client.ts';
import { Answered, Listed, useAnswer, useListing, useWork } from '../ask.tsx';
import { parseJson } from '../exact-json.ts';
import { AccountId, DeclaredName } from '../ids.tsx';
import { useLive } from '../live-ledger.ts';
import { JsonView, TypeText } from '../move-text.tsx';
import { amountText, counted, groupDigits } from '../number-text.ts';
import { Facts, Failure, LookUp, Pager, Section, Table, TextField, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import {
  accountRequest,
  listingRequest,
  resourceRequest,
  summariesRequest,
  transactionRequest,
} from '../requests.ts';
import { chosenVersion, linkTo, parameter, routeHash } from '../route.ts';
import { StreamTable, streamsIn, useResources } from '../streams.tsx';
import { TransactionRows } from '../transaction-rows.tsx';

const TABS = {
  assets: ['Assets', Assets],
  transactions: ['Transactions', Transactions],
  resources: ['Resources', Resources],
  modules: ['Modules', Modules],
  events: ['Event streams', Streams],
  objects: ['Objects', Objects],
} as const;
const TRANSACTIONS_AT_ONCE = 25;
const MODULES_PAGE_SIZE = 25;
/** As many resources as these are shown opened. */
const OPEN_RESOURCES = 5;

interface TabProps {
  readonly address: string;
}

export function AccountView() {
  const address = parameter('address');
  if (address !== '') return <Account key={address} address={address} />;
  return (
    <LookUp
      view="account"
      label="Account"
      submit="Show account"
      fields={[{ label: 'Address', name: 'address', required: true, wide: true }]}
    />
  );
}

interface AccountAnswer {
  readonly sequence_number: string;
  readonly authentication_key: string;
}

function Account({ address }: TabProps) {
  const asked = useAnswer<AccountAnswer>(accountRequest(address));
  const facts = useAccountFacts(address);
  const version = chosenVersion();
  const { sequence_number, authentication_key: key } = asked.json ?? {};
  const failure = asked.failure ?? facts.failure;
  const isNothing = facts.isAccount === false && facts.isObject === false;
  return (
    <>
      {failure !== undefined && <Failure title="No account" error={failure} />}
      <Facts
        rows={[
          [
            facts.isObject && !facts.isAccount ? 'Object' : 'Address',
            <AccountId key={address} hex={address} full />,
          ],
          ['Sequence number', facts.isAccount && sequence_number && groupDigits(sequence_number)],
          [
            'Authentication key',
            facts.isAccount && key && (key === address ? 'the address itself' : <code>{key}</code>),
          ],
        ]}
      />
      {isNothing && (
        <p class="note warning" role="status">
          There is no account and no object at this address
          {version === undefined ? '' : ` at version ${groupDigits(version)}`}: no resource, no
          module, no transaction, no balance.
        </p>
      )}
      {!isNothing && facts.failure === undefined && <Tabs address={address} />}
      <RequestPanel asked={asked} />
    </>
  );
}

function Tabs({ address }: TabProps) {
  const asked = parameter('show');
  const shown = asked in TABS ? (asked as keyof typeof TABS) : 'assets';
  const [, Shown] = TABS[shown];
  return (
    <>
      <nav class="tabs" aria-label="Parts of the account">
        <ul>
          {Object.entries(TABS).map(([name, [text]]) => (
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
      <Shown key={`${shown} ${chosenVersion()}`} address={address} />
    </>
  );
}

function Assets({ address }: TabProps) {
  const listing = useListing<HeldBalance>((start) =>
    listingRequest(address, 'balances', { start }),
  );
  return (
    <Listed
      listing={listing}
      title="Assets"
      none="It has nothing in coin stores or primary stores."
    >
      {(balances) => (
        <Table
          style="assets cards"
          caption="Balances of the account"
          columns={['Asset', '#Balance', 'History']}
        >
          {balances.map((held) => (
            <AssetRow key={held.asset_type} address={address} {...held} />
          ))}
        </Table>
      )}
    </Listed>
  );
}

function AssetRow({ address, asset_type, amount, name, symbol, decimals }: TabProps & HeldBalance) {
  const isCoin = asset_type.includes('::');
  return (
    <tr>
      <td>
        {isCoin ? (
          <DeclaredName name={asset_type} shown={asset_type} />
        ) : (
          <AccountId hex={asset_type} />
        )}
        {name && <span class="hint"> {name}</span>}
      </td>
      <td class="number">
        <span title={`${groupDigits(amount)} in the smallest unit`}>
          {amountText(BigInt(amount), decimals ?? 0)} {symbol ?? 'in the smallest unit'}
        </span>
      </td>
      <td>
        <a href={linkTo('balance', { account: address, asset: asset_type })}>
          Chart<span class="visually-hidden"> of {asset_type}</span>
        </a>
      </td>
    </tr>
  );
}

/** The latest that the account has sent, ascending. */
function useSummaries(address: string) {
  const request = summariesRequest(address, TRANSACTIONS_AT_ONCE);
  return useAnswer<readonly { readonly version: string }[]>(request);
}

function Transactions({ address }: TabProps) {
  const firstKept = useLive().info?.oldest_ledger_version ?? '0';
  return (
    <Answered asked={useSummaries(address)} title="No transactions">
      {(summaries) => {
        const versions = summaries.map(({ version }) => version).reverse();
        const oldest = BigInt(versions.at(-1) ?? 0);
        const hasOlder = versions.length === TRANSACTIONS_AT_ONCE && oldest > 0n;
        const older = { address, show: 'transactions', version: oldest - 1n };
        return (
          <Section title="Transactions sent">
            {versions.length === 0 ? (
              <p class="hint">It has sent nothing that is here.</p>
            ) : (
              <TransactionRows
                rows={versions}
                caption="Transactions that the account sent, newest first"
              />
            )}
            {hasOlder && (
              <Pager
                label="Pages"
                links={[
                  [
                    `Older: the account as of version ${groupDigits(older.version)}`,
                    routeHash('account', older),
                  ],
                ]}
              />
            )}
            {!hasOlder && firstKept !== '0' && (
              <p class="hint">
                This node has no transactions before version {groupDigits(firstKept)}.
              </p>
            )}
          </Section>
        );
      }}
    </Answered>
  );
}

function Resources({ address }: TabProps) {
  const [filter, setFilter] = useState('');
  const fits = ({ type }: Resource) => type.toLowerCase().includes(filter.trim().toLowerCase());
  return (
    <Listed listing={useResources(address)} title="Resources" none="None.">
      {(resources) => (
        <>
          {resources.length > OPEN_RESOURCES && (
            <div class="filter-line">
              <TextField label="Filter by type" name="filter" value={filter} onInput={setFilter} />
            </div>
          )}
          {resources.filter(fits).map(({ type, data }) => (
            <details key={type} class="resource" open={resources.length <= OPEN_RESOURCES}>
              <summary>
                <code>{type}</code>
              </summary>
              <p class="hint">
                <TypeText type={type} />
              </p>
              <JsonView value={data} />
            </details>
          ))}
        </>
      )}
    </Listed>
  );
}

function Modules({ address }: TabProps) {
  const listing = useListing<ModuleAnswer>((start) =>
    listingRequest(address, 'modules', { start, limit: MODULES_PAGE_SIZE }),
  );
  return (
    <Listed listing={listing} title="Modules" none="It has published none.">
      {(modules) => (
        <ul class="links">
          {modules.map(({ abi }) => (
            <li key={abi?.name}>
              <a href={linkTo('module', { account: address, name: abi?.name })}>
                <code>{abi?.name ?? 'does not load'}</code>
              </a>{' '}
              <span class="hint">
                {counted(abi?.exposed_functions.length ?? 0, 'function')},{' '}
                {counted(abi?.structs.length ?? 0, 'type')}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Listed>
  );
}

function Streams({ address }: TabProps) {
  const { items, asked, more } = useResources(address);
  const streams = items.flatMap(streamsIn);
  const { json, ...rest } = asked;
  return (
    <Listed
      listing={{ items: streams, asked: { ...rest, ...(json && { json: streams }) }, more }}
      title="Event streams"
      none="No resource here has an event handle."
    >
      {(shown) => <StreamTable streams={shown} />}
    </Listed>
  );
}

/** Objects that belonged to the account according to the changes of its latest transactions, with their resources. */
function useSeenObjects(address: string): ReadonlyMap<string, readonly string[]> | undefined {
  const { json: sent } = useSummaries(address);
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

function Objects({ address }: TabProps) {
  const objects = useSeenObjects(address);
  return (
    <Section title="Objects" count={objects?.size}>
      <p class="hint">
        Seen in the changes of the account’s latest {TRANSACTIONS_AT_ONCE} transactions, and looked
        up again. This node has no index of owners: objects that were not touched there, or that
        others gave to the account, are not known here.
      </p>
      {objects === undefined && <Waiting />}
      {objects?.size === 0 && <p class="hint">None seen there.</p>}
      {[...(objects ?? [])].map(([object, types]) => (
        <SeenObject key={object} {...{ address, object, types }} />
      ))}
    </Section>
  );
}

interface SeenObjectProps extends TabProps {
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
