/** Blocks, newest first. Every block is requested only once. */
import { useState } from 'preact/hooks';
import type { Block } from '../asking/answers.ts';
import { Answered, type Asked, useAnswer } from '../asking/ask.tsx';
import { useLive } from '../asking/live-ledger.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { blockRequest } from '../asking/requests.ts';
import { HeightId, Hex, Time, VersionId } from '../parts/ids.tsx';
import { groupDigits, lesser, readU64 } from '../parts/number-text.ts';
import { Failure, Pager, PauseButton, Table, Waiting } from '../parts/parts.tsx';
import { chosenVersion, linkTo, parameter } from '../route.ts';

const PAGE_SIZE = 20n;

export function BlocksView() {
  const { info } = useLive();
  const version = chosenVersion();
  const last = useAnswer<Block>(
    version === undefined ? undefined : blockRequest(version, 'version'),
  );
  if (version !== undefined) {
    return (
      <Answered asked={last} title="No blocks">
        {({ block_height }) => <Blocks newest={BigInt(block_height)} />}
      </Answered>
    );
  }
  return info === undefined ? <Waiting /> : <Blocks newest={BigInt(info.block_height)} />;
}

function Blocks({ newest: known }: { newest: bigint }) {
  const { info } = useLive();
  const [paused, setPaused] = useState<bigint>();
  const newest = paused ?? known;
  const isLive = chosenVersion() === undefined && parameter('top') === '';
  const oldest = readU64(info?.oldest_block_height ?? '') ?? 0n;
  const top = lesser(readU64(parameter('top')) ?? newest, newest);
  const first = useAnswer<Block>(blockRequest(String(top)));
  const others = Array.from({ length: Number(PAGE_SIZE) - 1 }, (_, at) => top - BigInt(at) - 1n);
  const hasOlder = top >= oldest + PAGE_SIZE;
  if (first.failure !== undefined) return <Failure title="No blocks" error={first.failure} />;
  return (
    <>
      {isLive && (
        <div class="list-head">
          <PauseButton
            isPaused={paused !== undefined}
            onChange={(isPaused) => setPaused(isPaused ? known : undefined)}
          />
        </div>
      )}
      <Table
        style="blocks cards"
        caption="Blocks, newest first"
        columns={[
          '#Height',
          'When (UTC)',
          '#Transactions',
          'First version',
          'Last version',
          'Hash',
        ]}
      >
        <BlockRow height={String(top)} asked={first} />
        {others
          .filter((height) => height >= oldest)
          .map((height) => (
            <AskedRow key={height} height={String(height)} />
          ))}
      </Table>
      <Pager
        label="Pages"
        links={[
          ['Newest', top < newest && linkTo('blocks')],
          ['Newer', top < newest && linkTo('blocks', { top: top + PAGE_SIZE })],
          ['Older', hasOlder && linkTo('blocks', { top: top - PAGE_SIZE })],
        ]}
      />
      {!hasOlder && <p class="hint">Block {groupDigits(oldest)} is the oldest here.</p>}
      <RequestPanel asked={first} title="Request of the first row" />
    </>
  );
}

function AskedRow({ height }: { height: string }) {
  return <BlockRow height={height} asked={useAnswer<Block>(blockRequest(height))} />;
}

function BlockRow({ height, asked }: { height: string; asked: Asked<Block> }) {
  const { json, failure } = asked;
  const count = json && Number(json.last_version) - Number(json.first_version) + 1;
  return (
    <tr aria-busy={json === undefined && failure === undefined}>
      <td class="number">
        <HeightId height={height} />
      </td>
      <td class="when">
        {failure instanceof Error && failure.message}
        <Time usecs={json?.block_timestamp} isRelative />
      </td>
      <td class="number count">{count !== undefined && groupDigits(count)}</td>
      <td class="first">{json && <VersionId version={json.first_version} />}</td>
      <td class="last">{json && <VersionId version={json.last_version} />}</td>
      <td>{json && <Hex hex={json.block_hash} />}</td>
    </tr>
  );
}
