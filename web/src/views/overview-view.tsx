/** Overview: the ledger's state and starting points. */
import { useState } from 'preact/hooks';
import type { Block, LedgerInfo } from '../asking/answers.ts';
import { Answered, useAnswer } from '../asking/ask.tsx';
import type { Json } from '../asking/exact-json.ts';
import { useLive } from '../asking/live-ledger.ts';
import { NODE } from '../asking/node-facts.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import {
  blockRequest,
  GAS_PRICE_REQUEST,
  HEADS_REQUEST,
  NATIVE_COIN,
  resourceRequest,
  versionAtRequest,
  viewRequest,
} from '../asking/requests.ts';
import { ActivityChart } from '../assets/activity-chart.tsx';
import { Amount } from '../assets/amounts.tsx';
import { supplyBody, supplyIn } from '../assets/supply.ts';
import { SAMPLE_PUBLISHER } from '../encoding/encode-request.ts';
import { HeightId, Time, VersionId } from '../parts/ids.tsx';
import {
  counted,
  greater,
  groupDigits,
  ledgerAgeText,
  readU64,
  timeText,
} from '../parts/number-text.ts';
import { type FactRow, Facts, Failure, PauseButton, Section, Waiting } from '../parts/parts.tsx';
import { chosenVersion, linkTo } from '../route.ts';
import { NATIVE_ASSET } from '../transactions/movements.ts';
import { TransactionRows } from '../transactions/transaction-rows.tsx';
import { useScan } from '../transactions/transaction-scan.ts';
import type { ValidatorSet } from './validators-view.tsx';

/** The document has a note for sample ledgers (page-files.ts). */
const IS_SAMPLE = document.querySelector('.sample-note') !== null;

/** Starting points that exist on every ledger, and two of the sample ledger. */
function startingPoints(): readonly (readonly [text: string, hash: string])[] {
  const account = SAMPLE_PUBLISHER;
  const ofSample = [
    ['Balance of the sample’s publisher', linkTo('balance', { account })],
    ['Ticks of the sample’s publisher', linkTo('events', { account, stream: '2' })],
  ] as const;
  return [
    ['Module 0x1::coin', linkTo('module', { account: '0x1', name: 'coin' })],
    ['Epoch changes, stream 2 of 0x1', linkTo('events', { account: '0x1', stream: '2' })],
    ['New blocks, stream 3 of 0x1', linkTo('events', { account: '0x1', stream: '3' })],
    ...(IS_SAMPLE ? ofSample : []),
    ['Bytes to sign for a transfer', linkTo('encode', { example: 'transfer' })],
  ];
}

export function OverviewView() {
  const { info, failure, versionsPerSecond } = useLive();
  const version = chosenVersion();
  const asked = { request: HEADS_REQUEST, refreshes: 0, ...(failure && { failure }) };
  return (
    <>
      <div class="ledger-state">
        {failure !== undefined && (
          <Failure title="The figures are the last known" error={failure} />
        )}
        {version === undefined ? (
          info !== undefined && <State info={info} />
        ) : (
          <ChosenVersion version={version} />
        )}
        {info === undefined && failure === undefined && <Waiting />}
      </div>
      {info !== undefined && version === undefined && hasActivity(info) && (
        <ActivityChart usecs={info.ledger_timestamp} firstHeight={firstTimed(info)} />
      )}
      <Latest />
      {info !== undefined && version === undefined && (
        <Node info={info} growth={growthText(versionsPerSecond)} />
      )}
      <section aria-labelledby="starting-points">
        <h2 id="starting-points">Where to begin</h2>
        <ul class="links">
          {startingPoints().map(([text, href]) => (
            <li key={href}>
              <a href={href}>{text}</a>
            </li>
          ))}
        </ul>
      </section>
      <RequestPanel asked={asked} />
    </>
  );
}

const LATEST_TRANSACTIONS = 8;

interface VersionFacts {
  readonly epoch: string;
}

/** The ledger's state at the time machine's version. */
function ChosenVersion({ version }: { version: string }) {
  const asked = useAnswer<Block>(blockRequest(version, 'version'));
  const { json: block } = asked;
  const at = block && readU64(block.block_timestamp);
  const facts = useAnswer<VersionFacts>(at === undefined ? undefined : versionAtRequest(at));
  return (
    <Answered asked={asked} title="No such version">
      {({ block_height, block_timestamp }) => (
        <>
          <p class="note" role="status">
            You look at the ledger as of version {groupDigits(version)}.
          </p>
          <Facts
            style="figures"
            rows={[
              ['Version', <VersionId key="version" version={version} />],
              ['Block', <HeightId key="block" height={block_height} />],
              ['Epoch', facts.json && groupDigits(facts.json.epoch)],
            ]}
          />
          <Facts rows={[['Ledger time', <Time key="time" usecs={block_timestamp} />]]} />
        </>
      )}
    </Answered>
  );
}

/** The newest user transactions; while the node does not answer, the last known ones. */
function Latest() {
  const version = readU64(chosenVersion() ?? '');
  const [isPaused, setPaused] = useState(false);
  const { rows, isWorking } = useScan({
    before: version === undefined ? undefined : version + 1n,
    ...{ wanted: LATEST_TRANSACTIONS, isPaused, filter: 'user' },
    isWanted: ({ type }) => type === 'user_transaction' || type === 'genesis_transaction',
  });
  return (
    <section aria-labelledby="latest">
      <div class="section-head">
        <h2 id="latest">Latest transactions of users</h2>
        {version === undefined && <PauseButton isPaused={isPaused} onChange={setPaused} />}
      </div>
      {rows.length > 0 && (
        <TransactionRows rows={rows} caption="Latest transactions of users, newest first" />
      )}
      {rows.length === 0 && (isWorking ? <Waiting /> : <p class="hint">None lately.</p>)}
      <p class="table-foot">
        <a href={linkTo('transactions')}>More transactions</a>,{' '}
        <a href={linkTo('blocks')}>all blocks</a>
      </p>
    </section>
  );
}

/** On a fork the blocks at each time would have to be requested from another node. */
function hasActivity({ block_height }: LedgerInfo): boolean {
  return block_height !== '0' && NODE.fork === undefined;
}

/** Genesis has no time. */
function firstTimed({ oldest_block_height }: LedgerInfo): bigint {
  return greater(BigInt(oldest_block_height), 1n);
}

/** The native asset's supply, the current gas price, and the validators. */
function useNetworkFacts(): FactRow[] {
  const supply = useAnswer<readonly Json[]>(viewRequest(supplyBody(NATIVE_COIN), ''));
  const { json: gas } = useAnswer<{ readonly gas_estimate: number }>(GAS_PRICE_REQUEST);
  const { json: set } = useAnswer<ValidatorSet>(
    resourceRequest('0x1', '0x1::stake::ValidatorSet', ''),
  );
  const active = set?.data.active_validators;
  const staked = active?.reduce((sum, one) => sum + BigInt(one.voting_power), 0n) ?? 0n;
  const total = supplyIn(supply.json);
  return [
    ['Supply', total !== undefined && <Amount asset={NATIVE_ASSET} amount={total} />],
    ['Staked', staked > 0n && <Amount asset={NATIVE_ASSET} amount={staked} />],
    ['Gas price', gas && `${groupDigits(gas.gas_estimate)} octas for a unit of gas`],
    [
      'Validators',
      active && <a href={linkTo('validators')}>{counted(active.length, 'active validator')}</a>,
    ],
  ];
}

function State({ info }: { info: LedgerInfo }) {
  const usecs = BigInt(info.ledger_timestamp);
  const network = useNetworkFacts();
  return (
    <>
      <Facts
        style="figures"
        rows={[
          ['Version', <VersionId key="version" version={info.ledger_version} />],
          ['Block', <HeightId key="block" height={info.block_height} />],
          ['Epoch', groupDigits(info.epoch)],
          ['Chain id', String(info.chain_id)],
        ]}
      />
      <Facts rows={[['Ledger time', `${timeText(usecs)} (${ledgerAgeText(usecs)})`], ...network]} />
    </>
  );
}

/** The node's retained history and its properties. */
function Node({ info, growth }: { info: LedgerInfo; growth: string }) {
  const kept =
    info.oldest_ledger_version === '0'
      ? 'all, from version 0'
      : `from version ${groupDigits(info.oldest_ledger_version)}, block ${groupDigits(info.oldest_block_height)}`;
  return (
    <Section title="This node">
      <Facts
        rows={[
          ['History kept', kept],
          ['Growth', growth],
          ['Node role', info.node_role.replace('_', ' ')],
          ['Git hash', info.git_hash],
          ['Encryption key', info.encryption_key],
        ]}
      />
    </Section>
  );
}

function growthText(versionsPerSecond: number | undefined): string {
  if (versionsPerSecond === undefined) return 'measuring…';
  if (versionsPerSecond === 0) return 'no new version seen lately';
  return `${versionsPerSecond.toFixed(1)} versions per second`;
}
