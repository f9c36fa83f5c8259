/** Blocks, newest first. Every block is asked for once. */
import { useAnswer } from '../ask.ts';
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
  const rows = Array.from({ length: Number(PAGE_SIZE) }, (_, at) => top - BigInt(at));
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
          {rows
            .filter((height) => height >= oldest)
            .map((height) => (
              <BlockRow key={height} height={String(height)} />
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
      <RequestPanel
        asked={{ request: blockRequest(String(top)), refreshes: 0 }}
        title="Request of the first row"
      />
    </>
  );
}

function BlockRow({ height }: { height: string }) {
  const { json, failure } = useAnswer(blockRequest(height));
  const [first, last] = [textField(json, 'first_version'), textField(json, 'last_version')];
  const count =
    first && last ? counted(Number(BigInt(last) - BigInt(first)) + 1, 'transaction') : '';
  return (
    <tr>
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
