/** Blocks, newest first. Every block is asked for once. */
import { type Asked, useAnswer } from '../ask.ts';
import { HeightId, Hex, Time, VersionId } from '../ids.tsx';
import { textField } from '../json-fields.ts';
import { blockOfRequest, blockRequest } from '../ledger-requests.ts';
import { useLive } from '../live-ledger.ts';
import { linkTo } from '../navigation.ts';
import { counted, groupDigits, lesser, readU64 } from '../number-text.ts';
import { Failure, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import type { ViewProps } from '../view.ts';

const PAGE_SIZE = 20n;

export function BlocksView({ parameter, version }: ViewProps) {
  const { info } = useLive();
  const last = useAnswer(version === undefined ? undefined : blockOfRequest(version));
  const known = version === undefined ? info?.blockHeight : textField(last.json, 'block_height');
  const newest = known === undefined ? undefined : readU64(known);
  if (last.failure !== undefined) return <Failure title="No blocks" error={last.failure} />;
  if (newest === undefined) return <Waiting />;
  const oldest = readU64(info?.oldestBlockHeight ?? '') ?? 0n;
  const top = lesser(readU64(parameter('top')) ?? newest, newest);
  return <Blocks {...{ top, newest, oldest }} />;
}

interface BlocksProps {
  readonly top: bigint;
  readonly newest: bigint;
  readonly oldest: bigint;
}

function Blocks({ top, newest, oldest }: BlocksProps) {
  const first = useAnswer(blockRequest(String(top)));
  const others = Array.from({ length: Number(PAGE_SIZE) - 1 }, (_, at) => top - BigInt(at) - 1n);
  if (first.failure !== undefined) return <Failure title="No blocks" error={first.failure} />;
  return (
    <>
      <table class="blocks cards">
        <caption class="visually-hidden">Blocks, newest first</caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              Height
            </th>
            <th scope="col">Time</th>
            <th scope="col" class="number">
              Versions
            </th>
            <th scope="col">Hash</th>
          </tr>
        </thead>
        <tbody>
          <BlockRow height={String(top)} asked={first} />
          {others
            .filter((height) => height >= oldest)
            .map((height) => (
              <AskedRow key={height} height={String(height)} />
            ))}
        </tbody>
      </table>
      <nav class="pager" aria-label="Pages">
        {top < newest && <a href={linkTo('blocks')}>Newest</a>}
        {top < newest && <a href={linkTo('blocks', { top: top + PAGE_SIZE })}>Newer</a>}
        {top >= oldest + PAGE_SIZE ? (
          <a href={linkTo('blocks', { top: top - PAGE_SIZE })}>Older</a>
        ) : (
          <span>Block {groupDigits(oldest)} is the oldest here.</span>
        )}
      </nav>
      <RequestPanel asked={first} title="Request of the first row" />
    </>
  );
}

function AskedRow({ height }: { height: string }) {
  return <BlockRow height={height} asked={useAnswer(blockRequest(height))} />;
}

function BlockRow({ height, asked: { json, failure } }: { height: string; asked: Asked }) {
  const [first, last] = [textField(json, 'first_version'), textField(json, 'last_version')];
  const count =
    first && last ? counted(Number(BigInt(last) - BigInt(first)) + 1, 'transaction') : '';
  return (
    <tr aria-busy={json === undefined && failure === undefined}>
      <td class="number">
        <HeightId height={height} />
      </td>
      <td class="when">
        {failure instanceof Error ? (
          failure.message
        ) : (
          <Time usecs={textField(json, 'block_timestamp')} />
        )}
      </td>
      <td class="number">
        {first && last && (
          <>
            <VersionId version={first} /> to <VersionId version={last} /> ({count})
          </>
        )}
      </td>
      <td>{json !== undefined && <Hex hex={textField(json, 'block_hash') ?? ''} />}</td>
    </tr>
  );
}
