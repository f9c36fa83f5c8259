/** Recent transactions of the ledger over time: one request asks for the versions at regular times. */
import { useState } from 'preact/hooks';
import type { Block } from '../asking/answers.ts';
import { useAnswer } from '../asking/ask.tsx';
import { batchRequest, blockRequest, versionAtRequest } from '../asking/requests.ts';
import { counted, greater, groupDigits, readU64, timeText } from '../parts/number-text.ts';
import { Section } from '../parts/parts.tsx';

const BARS = 24;
const DAY_USECS = 86_400_000_000n;
const [BAR_PX, GAP_PX, HEIGHT_PX] = [10, 1, 60];

interface VersionsAtTimes {
  readonly responses: readonly { readonly body: { readonly version?: string } }[];
}

interface ChartProps {
  /** End of the chart, in microseconds since 1970. */
  readonly usecs: string;
  /** The first block on this node whose time is known. */
  readonly firstHeight: bigint;
}

/** The day before a time, or as much of it as the node has. Parts that the node cannot answer are not shown. */
export function ActivityChart({ usecs, firstHeight }: ChartProps) {
  const [end] = useState(BigInt(usecs));
  const first = useAnswer<Block>(blockRequest(String(firstHeight)));
  const begin = readU64(first.json?.block_timestamp ?? '');
  const from = begin && greater(begin, end - DAY_USECS);
  const times =
    from !== undefined && from < end
      ? Array.from(
          { length: BARS + 1 },
          (_, at) => from + ((end - from) * BigInt(at)) / BigInt(BARS),
        )
      : undefined;
  const { json } = useAnswer<VersionsAtTimes>(times && batchRequest(times.map(versionAtRequest)));
  const versions = json?.responses.map(({ body }) => readU64(body.version ?? ''));
  if (times === undefined || versions === undefined || versions.includes(undefined)) return null;
  const counts = versions.slice(1).map((version, at) => Number(version! - versions[at]!));
  const most = Math.max(...counts, 1);
  const place = (at: number) => timeText(times[at]!).replace(/:\d+\.\d+ UTC$/, ' UTC');
  const all = counts.reduce((sum, count) => sum + count, 0);
  const text = `${counted(all, 'transaction')} of all kinds from ${place(0)} to ${place(BARS)}`;
  return (
    <Section title="Activity">
      <svg
        class="activity"
        viewBox={`0 0 ${BARS * BAR_PX} ${HEIGHT_PX}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        {counts.map((count, at) => {
          const height = (count / most) * HEIGHT_PX;
          const size = { width: BAR_PX - GAP_PX, height };
          return (
            <rect key={at} x={at * BAR_PX} y={HEIGHT_PX - height} {...size}>
              <title>{`${place(at)}: ${groupDigits(count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <p class="hint">
        {text}; at most {groupDigits(most)} in one of the {BARS} bars.
      </p>
    </Section>
  );
}
