/** One block with its transactions. */
import { useAnswer } from '../ask.ts';
import { AccountId, Hex, Time, VersionId } from '../ids.tsx';
import { listField, textField } from '../json-fields.ts';
import { blockRequest } from '../ledger-requests.ts';
import { useLive } from '../live-ledger.ts';
import { linkTo } from '../navigation.ts';
import { counted, groupDigits, readU64 } from '../number-text.ts';
import { Fact, Failure, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { TransactionRows } from '../transaction-rows.tsx';
import type { ViewProps } from '../view.ts';

/** A block's transactions are shown up to here; the others are in the list of transactions. */
const MAX_ROWS = 200;

export function BlockView({ parameter }: ViewProps) {
  const { info } = useLive();
  const asked = useAnswer(blockRequest(parameter('height'), true));
  const { json, failure } = asked;
  const height = readU64(parameter('height'));
  const transactions = listField(json, 'transactions');
  const metadata = transactions.find((one) => textField(one, 'proposer') !== undefined);
  const proposer = textField(metadata, 'proposer');
  const last = textField(json, 'last_version') ?? '';
  const isLast = height === undefined || String(height) === info?.blockHeight;
  return (
    <>
      {failure !== undefined && <Failure title="No block" error={failure} />}
      {json === undefined && failure === undefined && <Waiting />}
      {height !== undefined && (
        <nav class="pager" aria-label="Blocks">
          {height > 0n && <a href={linkTo('block', { height: height - 1n })}>Previous block</a>}
          {!isLast && <a href={linkTo('block', { height: height + 1n })}>Next block</a>}
        </nav>
      )}
      {json !== undefined && (
        <>
          <dl class="facts">
            <Fact term="Hash">
              <Hex hex={textField(json, 'block_hash') ?? ''} full />
            </Fact>
            <Fact term="Time">
              <Time usecs={textField(json, 'block_timestamp')} />
            </Fact>
            <Fact term="Versions">
              <VersionId version={textField(json, 'first_version') ?? ''} /> to{' '}
              <VersionId version={last} /> ({counted(transactions.length, 'transaction')})
            </Fact>
            <Fact term="Epoch, round">
              {metadata &&
                `${groupDigits(textField(metadata, 'epoch') ?? '?')}, ${groupDigits(textField(metadata, 'round') ?? '?')}`}
            </Fact>
            <Fact term="Proposer">{proposer && <AccountId hex={proposer} full />}</Fact>
          </dl>
          <section aria-label="Transactions">
            <h2>Transactions</h2>
            <TransactionRows
              rows={transactions.slice(0, MAX_ROWS)}
              caption="Transactions of the block, in order"
            />
            {transactions.length > MAX_ROWS && (
              <p class="table-foot">
                The first {MAX_ROWS} are shown.{' '}
                <a href={linkTo('transactions', { start: last })}>The last ones</a>
              </p>
            )}
          </section>
        </>
      )}
      <RequestPanel asked={asked} />
    </>
  );
}
