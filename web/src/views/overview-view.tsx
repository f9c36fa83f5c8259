/** Overview: the ledger's state and places to begin. */
import type { Block, LedgerInfo, Transaction } from '../answers.ts';
import { useAnswer } from '../ask.tsx';
import { SAMPLE_PUBLISHER } from '../encode-request.ts';
import { HeightId, Time, VersionId } from '../ids.tsx';
import { useLive } from '../live-ledger.ts';
import { groupDigits, ledgerAgeText, readU64, timeText } from '../number-text.ts';
import { Facts, Failure, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { blockRequest, HEADS_REQUEST, transactionsRequest } from '../requests.ts';
import { chosenVersion, linkTo } from '../route.ts';
import { TransactionRows } from '../transaction-rows.tsx';

/** Places that every ledger of this kind has, and two of the sample ledger. */
function startingPoints(): readonly (readonly [text: string, hash: string])[] {
  const account = SAMPLE_PUBLISHER;
  return [
    ['Module 0x1::coin', linkTo('module', { account: '0x1', name: 'coin' })],
    ['Epoch changes, stream 2 of 0x1', linkTo('events', { account: '0x1', stream: '2' })],
    ['New blocks, stream 3 of 0x1', linkTo('events', { account: '0x1', stream: '3' })],
    ['Sample ledger: balance of its publisher', linkTo('balance', { account })],
    ['Sample ledger: ticks of its publisher', linkTo('events', { account, stream: '2' })],
    ['Bytes to sign for a transfer', linkTo('encode', { example: 'transfer' })],
  ];
}

export function OverviewView() {
  const { info, failure, versionsPerSecond } = useLive();
  const version = chosenVersion();
  const title =
    info === undefined
      ? 'The ledger’s state is not known'
      : 'The node does not answer; the figures below are the last known';
  const asked = { request: HEADS_REQUEST, refreshes: 0, ...(failure && { failure }) };
  return (
    <>
      <div class="ledger-state">
        {failure !== undefined && <Failure title={title} error={failure} />}
        {info !== undefined && <State info={info} growth={growthText(versionsPerSecond)} />}
        {info === undefined && failure === undefined && <Waiting />}
      </div>
      {version !== undefined && <ChosenVersion version={version} />}
      <Latest newest={readU64(version ?? info?.ledger_version ?? '')} />
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

const LATEST_TRANSACTIONS = 8n;

/** What the time machine is set to; the figures above stay those of now. */
function ChosenVersion({ version }: { version: string }) {
  const { json, failure } = useAnswer<Block>(blockRequest(version, 'version'));
  if (failure !== undefined) return <Failure title="No such version" error={failure} />;
  return (
    <p class="note" role="status">
      You look at the ledger as of version {groupDigits(version)}
      {json && (
        <>
          , in block <HeightId height={json.block_height} /> of{' '}
          <Time usecs={json.block_timestamp} />
        </>
      )}
      . The figures above are those of now.
    </p>
  );
}

/** The newest transactions; while the node does not answer, those known before. */
function Latest({ newest }: { newest: bigint | undefined }) {
  const version = chosenVersion();
  const first =
    newest !== undefined && newest >= LATEST_TRANSACTIONS ? newest - LATEST_TRANSACTIONS + 1n : 0n;
  const request = transactionsRequest({
    ...(version !== undefined && { start: first }),
    limit: LATEST_TRANSACTIONS,
  });
  const { json, failure } = useAnswer<readonly Transaction[]>(
    newest === undefined ? undefined : request,
    newest,
  );
  if (json === undefined) return newest === undefined || failure !== undefined ? null : <Waiting />;
  const isWanted = (one: Transaction) => version === undefined || BigInt(one.version!) <= newest!;
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

function State({ info, growth }: { info: LedgerInfo; growth: string }) {
  const usecs = BigInt(info.ledger_timestamp);
  const ago = ledgerAgeText(usecs);
  const kept =
    info.oldest_ledger_version === '0'
      ? 'all, from version 0'
      : `from version ${groupDigits(info.oldest_ledger_version)}, block ${groupDigits(info.oldest_block_height)}`;
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
      <Facts
        rows={[
          ['Ledger time', `${timeText(usecs)} (${ago})`],
          ['History kept', kept],
          ['Growth', growth],
          ['Node role', info.node_role.replace('_', ' ')],
          ['Git hash', info.git_hash],
          ['Encryption key', info.encryption_key],
        ]}
      />
    </>
  );
}

function growthText(versionsPerSecond: number | undefined): string {
  if (versionsPerSecond === undefined) return 'measuring…';
  if (versionsPerSecond === 0) return 'no new version seen lately';
  return `${versionsPerSecond.toFixed(1)} versions per second`;
}
