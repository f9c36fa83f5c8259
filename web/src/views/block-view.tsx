/** One block with its transactions. */
import type { Block } from '../asking/answers.ts';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { useLive } from '../asking/live-ledger.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { blockRequest } from '../asking/requests.ts';
import { AccountId, Hex, Time, VersionId } from '../parts/ids.tsx';
import { counted, groupDigits, readU64 } from '../parts/number-text.ts';
import { Facts, Pager, Section } from '../parts/parts.tsx';
import { linkTo, parameter } from '../route.ts';
import { TransactionRows } from '../transactions/transaction-rows.tsx';

/** Maximum number of transactions shown for a block; the others are in the list of transactions. */
const MAX_ROWS = 200;

export function BlockView() {
  const { info } = useLive();
  const asked = useAnswer<Block>(
    blockRequest(parameter('height'), 'height', { with_transactions: 'true' }),
  );
  const height = readU64(parameter('height'));
  const isLast = height === undefined || String(height) === info?.block_height;
  return (
    <>
      {height !== undefined && (
        <Pager
          label="Blocks"
          links={[
            ['Previous block', height > 0n && linkTo('block', { height: height - 1n })],
            ['Next block', !isLast && linkTo('block', { height: height + 1n })],
          ]}
        />
      )}
      <Answered asked={asked} title="No block">
        {(block) => <Shown block={block} />}
      </Answered>
      <RequestPanel asked={asked} />
    </>
  );
}

function Shown({ block }: { block: Block }) {
  const { first_version, last_version } = block;
  const transactions = block.transactions ?? [];
  const metadata = transactions.find(({ proposer }) => proposer !== undefined);
  const { proposer, epoch = '?', round = '?' } = metadata ?? {};
  return (
    <>
      <Facts
        rows={[
          ['Hash', <Hex key="hash" hex={block.block_hash} full />],
          ['Time', <Time key="time" usecs={block.block_timestamp} />],
          [
            'Versions',
            <>
              <VersionId version={first_version} /> to <VersionId version={last_version} /> (
              {counted(transactions.length, 'transaction')})
            </>,
          ],
          ['Epoch, round', metadata && `${groupDigits(epoch)}, ${groupDigits(round)}`],
          ['Proposer', proposer && <AccountId hex={proposer} full />],
        ]}
      />
      <Section title="Transactions">
        <TransactionRows
          rows={transactions.slice(0, MAX_ROWS)}
          caption="Transactions of the block, in order"
        />
        {transactions.length > MAX_ROWS && (
          <p class="table-foot">
            The first {MAX_ROWS} are shown.{' '}
            <a href={linkTo('transactions', { kind: 'all', before: BigInt(last_version) + 1n })}>
              The last ones
            </a>
          </p>
        )}
      </Section>
    </>
  );
}
