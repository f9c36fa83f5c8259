/** Overview: the ledger's state and places to begin. */

import type { JsonValue } from '../../../src/move/json/json-text.ts';
import { useAnswer } from '../ask.ts';
import { HeightId, Time, VersionId } from '../ids.tsx';
import { isList, textField } from '../json-fields.ts';
import { blockOfRequest, LEDGER_STATE_REQUEST, transactionsRequest } from '../ledger-requests.ts';
import { type LedgerInfo, useLive } from '../live-ledger.ts';
import { linkTo } from '../navigation.ts';
import { agoText, groupDigits, readU64, timeText } from '../number-text.ts';
import { Fact, Failure, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { TransactionRows } from '../transaction-rows.tsx';
import type { ViewProps } from '../view.ts';

/** The account that publishes the applications of every sample ledger. */
const SAMPLE_PUBLISHER = '0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';

/** Places that every ledger of this kind has, and two of the sample ledger. */
function startingPoints(): readonly (readonly [text: string, hash: string])[] {
  return [
    ['Module 0x1::coin', linkTo('module', { account: '0x1', name: 'coin' })],
    ['Epoch changes, stream 2 of 0x1', linkTo('events', { account: '0x1', stream: '2' })],
    ['New blocks, stream 3 of 0x1', linkTo('events', { account: '0x1', stream: '3' })],
    ['Sample ledger: balance of its publisher', linkTo('balance', { account: SAMPLE_PUBLISHER })],
    [
      'Sample ledger: ticks of its publisher',
      linkTo('events', { account: SAMPLE_PUBLISHER, stream: '2' }),
    ],
    ['Bytes to sign for a transfer', linkTo('encode', { example: 'transfer' })],
  ];
}

export function OverviewView({ version }: ViewProps) {
  const { info, answer, failure, versionsPerSecond } = useLive();
  const request = failure?.request ?? answer?.request ?? LEDGER_STATE_REQUEST;
  const asked = { request, refreshes: 0, ...(failure ? { failure } : answer ? { answer } : {}) };
  const title =
    info === undefined
      ? 'The ledger’s state is not known'
      : 'The node does not answer; the figures below are the last known';
  return (
    <>
      <div class="ledger-state">
        {failure !== undefined && <Failure title={title} error={failure} />}
        {info !== undefined && <Figures info={info} />}
        {info !== undefined && <Facts info={info} versionsPerSecond={versionsPerSecond} />}
        {info === undefined && failure === undefined && <Waiting />}
      </div>
      {version !== undefined && <ChosenVersion version={version} />}
      <Latest newest={version === undefined ? info?.version : readU64(version)} version={version} />
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

/** What the time machine is set to; the figures above stay those of now. */
function ChosenVersion({ version }: { version: string }) {
  const { json, failure } = useAnswer(blockOfRequest(version));
  if (failure !== undefined) return <Failure title="No such version" error={failure} />;
  const height = textField(json, 'block_height');
  return (
    <p class="note" role="status">
      You look at the ledger as of version {groupDigits(version)}
      {height && (
        <>
          , in block <HeightId height={height} /> of{' '}
          <Time usecs={textField(json, 'block_timestamp')} />
        </>
      )}
      . The figures above are those of now.
    </p>
  );
}

interface LatestProps {
  readonly newest: bigint | undefined;
  readonly version: string | undefined;
}

/** The newest transactions; while the node does not answer, those known before. */
function Latest({ newest, version }: LatestProps) {
  const count = BigInt(LATEST_TRANSACTIONS);
  const start = newest !== undefined && newest >= count ? newest - count + 1n : 0n;
  const page = version === undefined ? {} : { start };
  const request = transactionsRequest({ ...page, limit: LATEST_TRANSACTIONS });
  const { json, failure } = useAnswer(newest === undefined ? undefined : request, newest);
  if (!isList(json)) return newest === undefined || failure !== undefined ? null : <Waiting />;
  const isWanted = (one: JsonValue) =>
    version === undefined || (readU64(textField(one, 'version') ?? '') ?? 0n) <= newest!;
  return (
    <section aria-labelledby="latest">
      <h2 id="latest">Latest transactions</h2>
      <TransactionRows
        rows={json.filter(isWanted).reverse()}
        caption="Latest transactions, newest first"
      />
      <p class="table-foot">
        <a href={linkTo('transactions')}>All transactions</a>,{' '}
        <a href={linkTo('blocks')}>all blocks</a>
      </p>
    </section>
  );
}

function Figures({ info }: { info: LedgerInfo }) {
  return (
    <dl class="figures">
      <Fact term="Version">
        <VersionId version={info.version} />
      </Fact>
      <Fact term="Block">
        <HeightId height={info.blockHeight} />
      </Fact>
      <Fact term="Epoch">{groupDigits(info.epoch)}</Fact>
      <Fact term="Chain id">{info.chainId}</Fact>
    </dl>
  );
}

interface FactsProps {
  readonly info: LedgerInfo;
  readonly versionsPerSecond: number | undefined;
}

function Facts({ info, versionsPerSecond }: FactsProps) {
  const ledgerTimeMs = Number(info.timestampUsecs / 1000n);
  const ago = info.timestampUsecs === 0n ? 'genesis' : agoText(ledgerTimeMs, Date.now());
  const kept =
    info.oldestVersion === 0n
      ? 'all, from version 0'
      : `from version ${groupDigits(info.oldestVersion)}, block ${groupDigits(info.oldestBlockHeight)}`;
  return (
    <dl class="facts">
      <Fact term="Ledger time">
        {timeText(info.timestampUsecs)} ({ago})
      </Fact>
      <Fact term="History kept">{kept}</Fact>
      <Fact term="Growth">{growthText(versionsPerSecond)}</Fact>
      <Fact term="Node role">{info.nodeRole.replace('_', ' ')}</Fact>
      <Fact term="Git hash">{info.gitHash}</Fact>
      <Fact term="Encryption key">{info.encryptionKey}</Fact>
    </dl>
  );
}

function growthText(versionsPerSecond: number | undefined): string {
  if (versionsPerSecond === undefined) return 'measuring…';
  if (versionsPerSecond === 0) return 'no new version seen lately';
  return `${versionsPerSecond.toFixed(1)} versions per second`;
}
