/** An account or an object: its assets, transactions, property, modules and events. */
import { useState } from 'preact/hooks';
import { type ObjectKind, useAccountFacts } from '../account/account-facts.ts';
import { Activity } from '../account/activity.tsx';
import { Assets, MainBalance, useBalances } from '../account/assets-tab.tsx';
import { Owned } from '../account/owned.tsx';
import type { ModuleAnswer, Resource } from '../asking/answers.ts';
import { Listed, useAnswer, useListing } from '../asking/ask.tsx';
import { RequestPanel } from '../asking/request-panel.tsx';
import { accountRequest, listingRequest } from '../asking/requests.ts';
import { StreamTable, streamsIn, useResources } from '../events/streams.tsx';
import { JsonView, TypeText } from '../modules/move-text.tsx';
import { AccountId } from '../parts/ids.tsx';
import { counted, groupDigits } from '../parts/number-text.ts';
import { Facts, Failure, LookUp, Tabs, TextField } from '../parts/parts.tsx';
import { chosenVersion, linkTo, parameter } from '../route.ts';

const TABS = {
  transactions: ['Transactions', Activity],
  assets: ['Assets', Assets],
  objects: ['Owned', Owned],
  resources: ['Resources', Resources],
  modules: ['Modules', Modules],
  events: ['Event streams', Streams],
} as const;
/** Names of the tabs in links to the public explorer. */
const OTHER_NAMES: Readonly<Record<string, keyof typeof TABS>> = {
  coins: 'assets',
  tokens: 'objects',
  info: 'resources',
};
const MODULES_PAGE_SIZE = 100;
/** Number of resources that are shown open. */
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
  const balances = useBalances(address);
  const version = chosenVersion();
  const { sequence_number, authentication_key: key } = asked.json ?? {};
  const failure = asked.failure ?? facts.failure;
  const isNothing = facts.isAccount === false && facts.isObject === false;
  const isObject = facts.isObject === true && facts.isAccount !== true;
  return (
    <>
      {failure !== undefined && <Failure title="No account" error={failure} />}
      {!isObject && !isNothing && failure === undefined && (
        <MainBalance address={address} listing={balances} />
      )}
      <Facts
        rows={[
          [isObject ? 'Object' : 'Address', <AccountId key={address} hex={address} full />],
          ['It is', facts.kind && <Kind key="kind" address={address} kind={facts.kind} />],
          ['Owner', facts.owner && <AccountId key={address} hex={facts.owner} full />],
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
      {!isNothing && facts.failure === undefined && (
        <Parts address={address} first={isObject ? 'resources' : 'transactions'} />
      )}
      <RequestPanel asked={asked} title="Request of the account" />
    </>
  );
}

/** Link to the page of an object that has one of its own. */
function Kind({ address, kind }: TabProps & { kind: ObjectKind }) {
  const link = {
    asset: ['an asset', linkTo('asset', { asset: address })],
    collection: ['a collection', linkTo('collection', { address })],
    token: ['a token', linkTo('token', { address })],
  } as const;
  const [text, href] = link[kind];
  return <a href={href}>{text}</a>;
}

function Parts({ address, first }: TabProps & { first: keyof typeof TABS }) {
  const asked = parameter('show');
  const shown = asked in TABS ? (asked as keyof typeof TABS) : (OTHER_NAMES[asked] ?? first);
  const [, Shown] = TABS[shown];
  return (
    <>
      <Tabs
        label="Parts of the account"
        tabs={Object.entries(TABS).map(([name, [text]]) => ({
          text,
          href: linkTo('account', { address, show: name }),
          isShown: name === shown,
        }))}
      />
      <Shown key={`${shown} ${chosenVersion()}`} address={address} />
    </>
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
