/** Balance: the exact figure, and its history sampled over versions. */
import { useState } from 'preact/hooks';
import { ApiFailure, send } from '../api-client.ts';
import { type Asked, useAnswer, useWork } from '../ask.ts';
import { NATIVE_COIN, useUnit } from '../assets.ts';
import { BalanceChart } from '../balance-chart.tsx';
import {
  type Sample,
  type SampleOutcome,
  sampleHistory,
  type VersionRange,
} from '../balance-history.ts';
import { balanceRequest } from '../ledger-requests.ts';
import { useLive } from '../live-ledger.ts';
import { go, linkTo } from '../navigation.ts';
import { type AssetUnit, amountText, counted, groupDigits, readU64 } from '../number-text.ts';
import { CopyButton, Failure, QueryForm, TextField, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import type { ViewProps } from '../view.ts';

/** Reads the body of a balance answer, a bare number up to 2^64−1; undefined for anything else. */
function readBalance(text: string): bigint | undefined {
  return readU64(text.trim());
}

function ledgerVersion({ answer }: Asked): bigint | undefined {
  return readU64(answer?.ledgerHeaders.get('ledger-version') ?? '');
}

export function BalanceView({ parameter, version }: ViewProps) {
  const [account, asset] = [parameter('account'), parameter('asset') || NATIVE_COIN];
  const { info } = useLive();
  const asked = useAnswer(
    account === '' ? undefined : balanceRequest(account, asset, version),
    version === undefined ? info?.version : undefined,
  );
  const unit = useUnit(asked.request && asset);
  const [samplesAsked, setSamplesAsked] = useState(0);
  return (
    <>
      <QueryForm
        label="Balance"
        submit="Show balance"
        onSubmit={(fields) => go(linkTo('balance', fields))}
      >
        <TextField label="Account" name="account" value={account} required wide />
        <TextField
          label="Asset"
          name="asset"
          value={asset}
          hint="A coin type, or the address of a fungible asset’s metadata."
          suggestions={[NATIVE_COIN, '0xa']}
          required
          wide
        />
        <TextField
          label="Chart from version"
          name="from"
          value={parameter('from')}
          placeholder="oldest kept"
          numeric
        />
        <TextField
          label="Chart to version"
          name="to"
          value={parameter('to')}
          placeholder="latest"
          numeric
        />
      </QueryForm>
      {asked.request !== undefined && (
        <>
          <Figure {...{ asked, unit, version }} />
          {asked.answer !== undefined && (
            <History
              key={`${account} ${asset} ${parameter('from')} ${parameter('to')} ${version}`}
              {...{ account, asset, unit, version }}
              from={parameter('from')}
              to={parameter('to')}
              latest={ledgerVersion(asked)}
              onAsked={setSamplesAsked}
            />
          )}
        </>
      )}
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

function Figure({
  asked,
  unit,
  version,
}: {
  asked: Asked;
  unit: AssetUnit | undefined;
  version: string | undefined;
}) {
  const { answer, failure } = asked;
  if (answer === undefined) {
    return failure === undefined ? <Waiting /> : <Failure title="No balance" error={failure} />;
  }
  const balance = readBalance(answer.text);
  const at = version === undefined ? ledgerVersion(asked) : readU64(version);
  const digits = balance === undefined ? answer.text : String(balance);
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
      {failure !== undefined && (
        <Failure title="The balance could not be asked again" error={failure} />
      )}
    </>
  );
}

interface HistoryProps {
  readonly account: string;
  readonly asset: string;
  readonly unit: AssetUnit | undefined;
  readonly version: string | undefined;
  /** Ends of the chart; empty for the oldest and the newest version. */
  readonly from: string;
  readonly to: string;
  readonly latest: bigint | undefined;
  readonly onAsked: (count: number) => void;
}

function History({ account, asset, unit, version, from, to, latest, onAsked }: HistoryProps) {
  const { info } = useLive();
  const [range, setRange] = useState<VersionRange>();
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const [isComplete, setComplete] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const oldest = info?.oldestVersion;
  const work = async (signal: AbortSignal): Promise<void> => {
    if (oldest === undefined) return;
    const first = from === '' ? oldest : readU64(from);
    const last = to === '' ? (latest ?? info?.version) : readU64(to);
    if (first === undefined || last === undefined || first > last) {
      const message = 'The chart’s ends must be versions, the first not above the last.';
      setFailure(new RangeError(message));
      return;
    }
    setRange({ from: first, to: last });
    const read = (at: bigint) => readSample(account, asset, at, signal);
    const show = (known: readonly Sample[]): void => {
      setSamples(known);
      onAsked(known.length);
    };
    await sampleHistory({ from: first, to: last }, read, show);
    setComplete(true);
  };
  // The range is that of the first answer: a growing ledger does not begin the chart again.
  useWork(work, [oldest === undefined]);
  if (failure !== undefined) return <Failure title="No history" error={failure} />;
  if (range === undefined) return <Waiting />;
  return (
    <section class="history" aria-labelledby="history">
      <h2 id="history">History</h2>
      <BalanceChart
        {...{ range, samples, unit }}
        marked={version === undefined ? undefined : readU64(version)}
      />
      <p class="hint">
        {isComplete
          ? `${counted(samples.length, 'request')}, each at one version; nothing is claimed about versions between them.`
          : `${counted(samples.length, 'sample')} so far…`}
      </p>
    </section>
  );
}

async function readSample(
  account: string,
  asset: string,
  version: bigint,
  signal: AbortSignal,
): Promise<SampleOutcome> {
  try {
    const answer = await send(balanceRequest(account, asset, String(version)), signal);
    const balance = readBalance(answer.text);
    if (balance !== undefined) return { kind: 'balance', balance };
    const facts = { status: answer.status, code: 'unreadable_answer' };
    return { kind: 'refused', ...facts, message: 'the answer is no balance' };
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    const { status, code, message } = error;
    return { kind: 'refused', status, code, message };
  }
}
