/** The supply of an asset, sampled over versions in the same way as a balance. */
import { useState } from 'preact/hooks';
import { ApiFailure, send } from '../asking/api-client.ts';
import { useWork } from '../asking/ask.tsx';
import { type Json, parseJson } from '../asking/exact-json.ts';
import { headAbove } from '../asking/live-ledger.ts';
import { viewRequest } from '../asking/requests.ts';
import { counted, readU64 } from '../parts/number-text.ts';
import { Waiting } from '../parts/parts.tsx';
import { chosenVersion } from '../route.ts';
import { BalanceChart } from './balance-chart.tsx';
import {
  type Sample,
  type SampleOutcome,
  sampleHistory,
  type VersionRange,
} from './balance-history.ts';
import { supplyBody, supplyIn } from './supply.ts';

export function SupplyChart({ asset, decimals }: { asset: string; decimals: number }) {
  const [range, setRange] = useState<VersionRange>();
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useWork(async (signal) => {
    const info = await headAbove(-1n, signal);
    const from = BigInt(info.oldest_ledger_version);
    const to = readU64(chosenVersion() ?? '') ?? BigInt(info.ledger_version);
    setRange({ from, to });
    const read = async (at: bigint): Promise<SampleOutcome> => {
      try {
        const { text } = await send(viewRequest(supplyBody(asset), String(at)), signal);
        return { kind: 'balance', balance: supplyIn(parseJson<readonly Json[]>(text)) ?? 0n };
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        const { status, code, message } = error;
        return { kind: 'refused', status, code, message };
      }
    };
    await sampleHistory({ from, to }, read, setSamples);
  }, []);
  if (range === undefined) return <Waiting />;
  return (
    <>
      <BalanceChart {...{ range, samples }} unit={{ symbol: '', decimals }} marked={undefined} />
      <p class="hint">
        {counted(samples.length, 'request')}, each at one version; nothing is claimed about versions
        between them.
      </p>
    </>
  );
}
