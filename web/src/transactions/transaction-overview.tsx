/** The first tab of a transaction: its outcome, balance changes, cost, and numbers. */

import type { Block, Transaction } from '../asking/answers.ts';
import { useAnswer } from '../asking/ask.tsx';
import { blockRequest } from '../asking/requests.ts';
import { Amount, Summary } from '../assets/amounts.tsx';
import { AccountId, Copied, DeclaredName, HeightId, Hex, Time } from '../parts/ids.tsx';
import { useNow } from '../parts/now.ts';
import { agoText, groupDigits, readU64 } from '../parts/number-text.ts';
import { type FactRow, Facts, Section, Table } from '../parts/parts.tsx';
import { linkTo } from '../route.ts';
import { feeOf, NATIVE_ASSET, netChangesOf, shortAddress, textAt } from './movements.ts';
import { calledFunction, intendedPieces, kindText } from './summary.ts';
import { PayloadPart, SignaturePart } from './transaction-payload.tsx';
import { Status } from './transaction-rows.tsx';

function account(hex: string | undefined) {
  return hex && <AccountId hex={hex} full />;
}

export function TransactionOverview({ transaction }: { transaction: Transaction }) {
  const { version, sequence_number, replay_protection_nonce, ...rest } = transaction;
  const block = useAnswer<Block>(
    version === undefined ? undefined : blockRequest(version, 'version'),
  );
  const height = block.json?.block_height;
  const called = calledFunction(transaction);
  const intended = intendedPieces(transaction);
  const expires = rest.expiration_timestamp_secs;
  const sequence = !replay_protection_nonce && sequence_number;
  return (
    <>
      <Facts
        rows={[
          ['Status', version ? <Status transaction={transaction} full /> : 'pending'],
          ['Function', called && <DeclaredName key="called" name={called} />],
          ['Sender', account(rest.sender)],
          ['Was to send', intended && <Summary key="intended" pieces={intended} />],
          ['Proposer', account(rest.proposer)],
          ['Time', rest.timestamp && <WhenText usecs={rest.timestamp} />],
          ...feeRows(transaction),
          ['Version', version && <Copied text={version}>{groupDigits(version)}</Copied>],
          ['Block', height && <HeightId height={height} />],
          ['Kind', kindText(transaction)],
          [
            'Hash',
            <Hex key="hash" hex={rest.hash} href={linkTo('transaction', { id: rest.hash })} full />,
          ],
          ['Replay protection nonce', replay_protection_nonce],
          ['Sequence number', sequence && groupDigits(sequence)],
          ['Expires', expires && <Time usecs={`${expires}000000`} />],
        ]}
      />
      <BalanceChanges transaction={transaction} />
      {rest.payload && <PayloadPart payload={rest.payload} />}
      {rest.signature && <SignaturePart signature={rest.signature} />}
      <Section title="Hashes">
        <Facts
          rows={[
            ['State change hash', hash(rest.state_change_hash)],
            ['Event root hash', hash(rest.event_root_hash)],
            ['Accumulator root hash', hash(rest.accumulator_root_hash)],
            ['State checkpoint hash', hash(rest.state_checkpoint_hash)],
          ]}
        />
      </Section>
    </>
  );
}

function hash(hex: string | null | undefined) {
  return hex && <Hex hex={hex} full />;
}

function WhenText({ usecs }: { usecs: string }) {
  const nowMs = useNow();
  const value = readU64(usecs);
  return (
    <>
      <Time usecs={usecs} />
      {value !== undefined && value > 0n && (
        <span class="hint"> {agoText(Number(value / 1000n), nowMs)}</span>
      )}
    </>
  );
}

/** The fee, its payer, what it paid for, and the maximum. */
function feeRows(transaction: Transaction): FactRow[] {
  const { gas_used = '', gas_unit_price = '', max_gas_amount = '', events = [] } = transaction;
  const fee = feeOf(transaction);
  const most = readU64(max_gas_amount);
  if (fee === undefined || most === undefined) return [];
  const statement = events.find(({ type }) => type.endsWith('::transaction_fee::FeeStatement'));
  const part = (name: string) => readU64(textAt(statement?.data, name) ?? '') ?? 0n;
  const [execution, io, storage] = ['execution_gas_units', 'io_gas_units', 'storage_fee_octas'].map(
    part,
  );
  const isOther = fee.payer !== shortAddress(transaction.sender ?? '');
  return [
    [
      'Fee',
      <>
        <Amount asset={NATIVE_ASSET} amount={fee.octas} />{' '}
        <span class="hint">
          {groupDigits(gas_used)} of at most {groupDigits(most)} gas, at{' '}
          {groupDigits(gas_unit_price)} octas
        </span>
      </>,
    ],
    ['Fee paid by', isOther && account(fee.payer)],
    [
      'Fee was for',
      statement && (
        <>
          execution {groupDigits(execution!)} gas, reads and writes {groupDigits(io!)} gas, storage{' '}
          <Amount asset={NATIVE_ASSET} amount={storage!} />
        </>
      ),
    ],
    [
      'Storage refund',
      fee.refundOctas > 0n && <Amount asset={NATIVE_ASSET} amount={fee.refundOctas} />,
    ],
  ];
}

/** Balance changes by owner, not by store, including the fee. */
function BalanceChanges({ transaction }: { transaction: Transaction }) {
  const changes = netChangesOf(transaction);
  if (changes.length === 0) return null;
  return (
    <Section title="Balance changes" count={changes.length}>
      <Table
        style="balance-changes cards"
        caption="Net changes of balances by owner, fee included"
        columns={['Owner', '#Change']}
      >
        {changes.map(({ owner, asset, amount }) => (
          <tr key={`${owner} ${asset}`}>
            <td>
              <AccountId hex={owner} full />
            </td>
            <td class="number">
              <Amount asset={asset} amount={amount} isChange />
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
