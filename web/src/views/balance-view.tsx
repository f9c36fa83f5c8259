/** Balance: the exact figure, its history sampled over versions, and every change. */
import { useState } from 'preact/hooks';
import type { BalanceChange } from '../asking/answers.ts';
import { ApiFailure, send } from '../asking/api-client.ts';
import { Answered, type Asked, Listed, useAnswer, useListing, useWork } from '../asking/ask.tsx';
import { useLive } from '../asking/live-ledger.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { balanceHistoryRequest, balanceRequest, NATIVE_COIN } from '../asking/requests.ts';
import { useUnit } from '../assets/assets.ts';
import { BalanceChart } from '../assets/balance-chart.tsx';
import {
  type Sample,
  type SampleOutcome,
  sampleHistory,
  type VersionRange,
} from '../assets/balance-history.ts';
import { csvLines } from '../events/event-file.ts';
import { Time, VersionId } from '../parts/ids.tsx';
import {
  type AssetUnit,
  amountText,
  counted,
  groupDigits,
  readU64,
  timeText,
} from '../parts/number-text.ts';
import { CopyButton, Failure, LookUp, Table, Waiting } from '../parts/parts.tsx';
import { saveFile } from '../parts/save-file.ts';
import { chosenVersion, parameter } from '../route.ts';

function ledgerVersion({ answer }: Asked): bigint | undefined {
  return readU64(answer?.ledgerHeaders.get('ledger-version') ?? '');
}

export function BalanceView() {
  const [account, asset] = [parameter('account'), parameter('asset') || NATIVE_COIN];
  const version = chosenVersion();
  const { info } = useLive();
  const asked = useAnswer(
    account === '' ? undefined : balanceRequest(account, asset),
    version === undefined ? info?.ledger_version : undefined,
  );
  const unit = useUnit(asked.request && asset);
  const [samplesAsked, setSamplesAsked] = useState(0);
  const [from, to] = [parameter('from'), parameter('to')];
  return (
    <>
      {asked.request && (
        <Answered asked={asked} title="No balance">
          {() => (
            <>
              <Figure asked={asked} unit={unit} />
              <History
                key={`${account} ${asset} ${from} ${to} ${version}`}
                {...{ account, asset, unit, from, to }}
                latest={ledgerVersion(asked)}
                onAsked={setSamplesAsked}
              />
            </>
          )}
        </Answered>
      )}
      <LookUp
        view="balance"
        label="Balance"
        submit="Show balance"
        fields={[
          { label: 'Account', name: 'account', required: true, wide: true },
          {
            label: 'Asset',
            name: 'asset',
            value: asset,
            hint: 'A coin type, or the address of a fungible asset’s metadata.',
            suggestions: [NATIVE_COIN, '0xa'],
            required: true,
            wide: true,
          },
          { label: 'Chart from version', name: 'from', placeholder: 'oldest kept', numeric: true },
          { label: 'Chart to version', name: 'to', placeholder: 'latest', numeric: true },
        ]}
      />
      <RequestPanel
        asked={asked}
        also={[
          [asked.refreshes, 'to follow the ledger'],
          [samplesAsked, 'with other ledger_version'],
        ]}
      />
    </>
  );
}

function Figure({ asked, unit }: { asked: Asked; unit: AssetUnit | undefined }) {
  const digits = asked.answer!.text.trim();
  const balance = readU64(digits);
  const at = readU64(chosenVersion() ?? '') ?? ledgerVersion(asked);
  return (
    <>
      <div class="figure-line copied">
        {unit !== undefined && balance !== undefined && (
          <p class="big-figure">
            {amountText(balance, unit.decimals)} <span class="symbol">{unit.symbol}</span>
          </p>
        )}
        <p>
          <output class={unit === undefined ? 'exact big-figure' : 'exact'}>
            {groupDigits(digits)}
          </output>{' '}
          <CopyButton label="Copy digits" text={digits} />
        </p>
      </div>
      <p class="figure-note">
        {groupDigits(digits)} is in the asset’s smallest unit
        {at !== undefined && `, at version ${groupDigits(at)}`}
      </p>
    </>
  );
}

interface HistoryProps {
  readonly account: string;
  readonly asset: string;
  readonly unit: AssetUnit | undefined;
  /** Ends of the chart; empty for the oldest and the newest version. */
  readonly from: string;
  readonly to: string;
  readonly latest: bigint | undefined;
  readonly onAsked: (count: number) => void;
}

function History({ account, asset, unit, from, to, latest, onAsked }: HistoryProps) {
  const { info } = useLive();
  const [range, setRange] = useState<VersionRange>();
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const [isComplete, setComplete] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  // The range is that of the first answer, so that a growing ledger does not restart the chart.
  useWork(
    async (signal) => {
      if (info === undefined) return;
      const first = readU64(from || info.oldest_ledger_version);
      const last = to === '' && latest !== undefined ? latest : readU64(to || info.ledger_version);
      if (first === undefined || last === undefined || first > last) {
        const message = 'The chart’s ends must be versions, the first not above the last.';
        return setFailure(new RangeError(message));
      }
      setRange({ from: first, to: last });
      const read = (at: bigint) => readSample(balanceRequest(account, asset, String(at)), signal);
      await sampleHistory({ from: first, to: last }, read, (known) => {
        setSamples(known);
        onAsked(known.length);
      });
      setComplete(true);
    },
    [info === undefined],
  );
  if (failure !== undefined) return <Failure title="No history" error={failure} />;
  if (range === undefined) return <Waiting />;
  // Pruned history is not requested: the list begins with the account's oldest version on this node.
  const oldest = readU64(info?.oldest_ledger_version ?? '');
  const isAll = from === '' || (oldest !== undefined && range.from < oldest);
  return (
    <section class="history" aria-labelledby="history">
      <h2 id="history">History</h2>
      <BalanceChart {...{ range, samples, unit }} marked={readU64(chosenVersion() ?? '')} />
      <p class="hint">
        {isComplete
          ? `${counted(samples.length, 'request')}, each at one version; nothing is claimed about versions between them.`
          : `${counted(samples.length, 'sample')} so far…`}
      </p>
      <Changes {...{ account, asset, unit, to }} from={isAll ? '' : String(range.from)} />
    </section>
  );
}

function Changes(props: Omit<HistoryProps, 'latest' | 'onAsked'>) {
  const { account, asset, unit, from, to } = props;
  const bounds = { from_version: from, to_version: to || chosenVersion() };
  const listing = useListing<BalanceChange>((start) =>
    balanceHistoryRequest(account, asset, { ...bounds, start }),
  );
  const none = from === '' ? 'The balance was 0 all the time.' : 'The balance did not change.';
  const save = (): void => {
    const lines = listing.items.map(({ version, amount, timestamp }, at) => [
      ...[version, timeText(BigInt(timestamp)), String(deltaOf(listing.items, at) ?? ''), amount],
    ]);
    const head = ['version', 'time', 'change_in_smallest_unit', 'balance_in_smallest_unit'];
    saveFile(csvLines([head, ...lines]), 'text/csv', `balance-${account.slice(0, 18)}.csv`);
  };
  return (
    <Listed
      listing={listing}
      title="Changes"
      none={none}
      action={
        <button type="button" class="quiet" onClick={save}>
          Export CSV
        </button>
      }
    >
      {(changes) => (
        <Table
          style="changes cards"
          caption="Versions that changed the balance"
          columns={['Version', 'Time', '#Change', '#Balance']}
        >
          {changes.map(({ version, amount, timestamp }, at) => (
            <tr key={version}>
              <td>
                <VersionId version={version} />
              </td>
              <td>
                <Time usecs={timestamp} />
              </td>
              <td class="number">
                <Delta change={deltaOf(changes, at)} unit={unit} />
              </td>
              <td class="number">
                <span title={`${groupDigits(amount)} in the smallest unit`}>
                  {amountText(BigInt(amount), unit?.decimals ?? 0)}
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Listed>
  );
}

/** Difference from the next older balance; undefined if that is not loaded yet. */
function deltaOf(changes: readonly BalanceChange[], at: number): bigint | undefined {
  const older = changes[at + 1];
  return older && BigInt(changes[at]!.amount) - BigInt(older.amount);
}

function Delta({ change, unit }: { change: bigint | undefined; unit: AssetUnit | undefined }) {
  if (change === undefined) return null;
  const digits = change < 0n ? -change : change;
  return (
    <span class={change < 0n ? 'amount loss' : 'amount gain'}>
      {change < 0n ? '−' : '+'}
      {amountText(digits, unit?.decimals ?? 0)}
    </span>
  );
}

async function readSample(
  request: ReturnType<typeof balanceRequest>,
  signal: AbortSignal,
): Promise<SampleOutcome> {
  try {
    const { text, status } = await send(request, signal);
    const balance = readU64(text.trim());
    if (balance !== undefined) return { kind: 'balance', balance };
    const message = 'the answer is no balance';
    return { kind: 'refused', status, code: 'unreadable_answer', message };
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    const { status, code, message } = error;
    return { kind: 'refused', status, code, message };
  }
}
