/**
 * Controls a local network: its accounts, calls that they sign, blocks, the clock, snapshots, and pending transactions.
 */
import { useState } from 'preact/hooks';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { useLive } from '../asking/live-ledger.ts';
import { NODE } from '../asking/node-facts.ts';
import { balanceRequest, controlRequest, NATIVE_COIN } from '../asking/requests.ts';
import { Amount } from '../assets/amounts.tsx';
import { ActionButton, control, useAction } from '../local/actions.tsx';
import { SendForm } from '../local/send-form.tsx';
import { AccountId, Hex, Time } from '../parts/ids.tsx';
import { amountText, counted, groupDigits, parseAmount, readTime } from '../parts/number-text.ts';
import { QueryForm, Section, Table, TextField } from '../parts/parts.tsx';
import { linkTo } from '../route.ts';
import { NATIVE_ASSET } from '../transactions/movements.ts';

const APT_DECIMALS = 8;
/** Amount that the faucet gives per click. */
const FUNDED_OCTAS = 10_000_000_000n;

interface LocalAccount {
  readonly address: string;
}

export function LocalView() {
  const asked = useAnswer<readonly LocalAccount[]>(
    NODE.isControlled ? controlRequest('accounts') : undefined,
  );
  if (!NODE.isControlled) {
    return (
      <p class="note">
        This node is not a local network under control. <code>daybook localnet</code> starts one.
      </p>
    );
  }
  return (
    <Answered asked={asked} title="No accounts">
      {(accounts) => (
        <>
          <Accounts accounts={accounts} />
          <SendForm accounts={accounts.map(({ address }) => address)} />
          <Blocks />
          <Pending />
          <Snapshots />
        </>
      )}
    </Answered>
  );
}

function Accounts({ accounts }: { accounts: readonly LocalAccount[] }) {
  const { act, isBusy, outcome } = useAction();
  const fund = (account: string, octasOf: () => bigint): void =>
    void act(async (signal) => {
      const octas = octasOf();
      await control('fund', { account, amount: String(octas) }, signal);
      return `The faucet sends ${amountText(octas, APT_DECIMALS)} APT to ${account}.`;
    });
  return (
    <Section title="Accounts" count={accounts.length}>
      <p class="hint">Everybody knows their keys.</p>
      <Table style="accounts cards" caption="Accounts" columns={['Account', '#Balance', 'Faucet']}>
        {accounts.map(({ address }) => (
          <tr key={address}>
            <td>
              <AccountId hex={address} full />
            </td>
            <td class="number">
              <Balance address={address} />
            </td>
            <td>
              <ActionButton
                isBusy={isBusy}
                label={`Give 100 APT to ${address}`}
                onClick={() => fund(address, () => FUNDED_OCTAS)}
              >
                Give 100 APT
              </ActionButton>
            </td>
          </tr>
        ))}
      </Table>
      <QueryForm
        label="Faucet"
        submit="Give"
        style="inline"
        onSubmit={({ account = '', amount = '' }) => {
          fund(account, () => parseAmount(amount, APT_DECIMALS));
        }}
      >
        <TextField label="Account" name="account" placeholder="0x…" required />
        <TextField label="APT" name="amount" value="100" numeric required />
      </QueryForm>
      {outcome}
    </Section>
  );
}

function Balance({ address }: { address: string }) {
  const { info } = useLive();
  const { answer } = useAnswer(
    balanceRequest(address, NATIVE_COIN, undefined),
    info?.ledger_version,
  );
  if (answer === undefined) return null;
  return <Amount asset={NATIVE_ASSET} amount={BigInt(answer.text.trim())} />;
}

const MINING = {
  auto: 'as soon as a transaction is there',
  manual: 'on request',
  interval: 'each second',
} as const;

function Blocks() {
  const { info } = useLive();
  const { act, isBusy, outcome } = useAction();
  const mine = (blocks: number): void =>
    void act(async (signal) => {
      await control('mine', { blocks }, signal);
      return `${counted(blocks, 'block')} made.`;
    });
  const move = (seconds: number, text: string): void =>
    void act(async (signal) => {
      await control('move_time', { usecs: String(BigInt(seconds) * 1_000_000n) }, signal);
      return `The clock is ${text} ahead; the next block has its time.`;
    });
  const setMining = (mode: string): void =>
    void act(async (signal) => {
      const interval = mode === 'interval' && { interval_ms: 1_000 };
      await control('set_mining', { mode, ...interval }, signal);
      return `Blocks are made ${MINING[mode as keyof typeof MINING]}.`;
    });
  const setTime = (text: string): void =>
    void act(async (signal) => {
      const usecs = readTime(text);
      if (usecs === undefined) throw new RangeError('A time is such as 2026-01-31 12:00 (UTC).');
      await control('set_time', { usecs: String(usecs) }, signal);
      return 'The next block has this time.';
    });
  return (
    <Section title="Blocks and time">
      <p class="hint">
        Block {groupDigits(info?.block_height ?? '0')}, of <Time usecs={info?.ledger_timestamp} />
      </p>
      <div class="button-row">
        <ActionButton isBusy={isBusy} onClick={() => mine(1)}>
          Make a block
        </ActionButton>
        <ActionButton isBusy={isBusy} onClick={() => mine(10)}>
          Make 10 blocks
        </ActionButton>
        <ActionButton isBusy={isBusy} onClick={() => move(3_600, 'an hour')}>
          An hour ahead
        </ActionButton>
        <ActionButton isBusy={isBusy} onClick={() => move(86_400, 'a day')}>
          A day ahead
        </ActionButton>
      </div>
      <QueryForm
        label="Time"
        submit="Set the time"
        style="inline"
        onSubmit={({ time = '' }) => setTime(time)}
      >
        <TextField
          label="Time of the next block"
          name="time"
          placeholder="2026-01-31 12:00"
          required
        />
      </QueryForm>
      <QueryForm
        label="When blocks are made"
        submit="Set"
        style="inline"
        onSubmit={({ mode = 'auto' }) => setMining(mode)}
      >
        <label class="field">
          Blocks are made
          <select name="mode">
            {Object.entries(MINING).map(([mode, text]) => (
              <option key={mode} value={mode}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </QueryForm>
      {outcome}
    </Section>
  );
}

interface Waiting {
  readonly hash: string;
  readonly sender: string;
  readonly sequence_number?: string;
}

function Pending() {
  const { info } = useLive();
  const [asks, setAsks] = useState(0);
  const { act, isBusy, outcome } = useAction();
  const asked = useAnswer<readonly Waiting[]>(
    controlRequest('pending'),
    `${info?.ledger_version} ${asks}`,
  );
  const drop = (hash: string): void =>
    void act(async (signal) => {
      await control('drop', { hash }, signal);
      setAsks((count) => count + 1);
      return 'It was dropped.';
    });
  return (
    <Section title="Pending transactions" count={asked.json?.length}>
      <Answered asked={asked} title="Nothing is known">
        {(waiting) =>
          waiting.length === 0 ? (
            <p class="hint">Nothing waits for a block.</p>
          ) : (
            <Table
              style="pending cards"
              caption="Pending transactions"
              columns={['Hash', 'Sender', '#Number', 'Drop']}
            >
              {waiting.map(({ hash, sender, sequence_number }) => (
                <tr key={hash}>
                  <td>
                    <Hex hex={hash} href={linkTo('transaction', { id: hash })} />
                  </td>
                  <td>
                    <AccountId hex={sender} />
                  </td>
                  <td class="number">{sequence_number}</td>
                  <td>
                    <ActionButton isBusy={isBusy} label={`Drop ${hash}`} onClick={() => drop(hash)}>
                      Drop
                    </ActionButton>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Answered>
      <ActionButton isBusy={isBusy} onClick={() => setAsks((count) => count + 1)}>
        Look again
      </ActionButton>
      {outcome}
    </Section>
  );
}

interface Snapshot {
  readonly id: number;
  readonly version: string;
}

/** Snapshots taken on this page, because the network does not list them. */
let taken: readonly Snapshot[] = [];

function Snapshots() {
  const { info } = useLive();
  const [shown, setShown] = useState(taken);
  const { act, isBusy, outcome } = useAction();
  const hold = (next: readonly Snapshot[]): void => {
    taken = next;
    setShown(next);
  };
  const take = (): void =>
    void act(async (signal) => {
      const { id } = await control<{ id: number }>('snapshot', {}, signal);
      hold([...taken, { id, version: info?.ledger_version ?? '0' }]);
      return `Snapshot ${id} taken.`;
    });
  const revert = (id: number): void =>
    void act(async (signal) => {
      await control('revert', { id }, signal);
      hold(taken.filter((one) => one.id < id));
      return `The network is as it was at snapshot ${id}.`;
    });
  return (
    <Section title="Snapshots">
      <p class="hint">
        A snapshot has the ledger, what waits, and the clock. Each is gone back to once; later ones
        are gone then.
      </p>
      <ActionButton isBusy={isBusy} onClick={take}>
        Take a snapshot
      </ActionButton>
      <ul class="links">
        {shown.map(({ id, version }) => (
          <li key={id}>
            Snapshot {id}, version {groupDigits(version)}{' '}
            <ActionButton isBusy={isBusy} onClick={() => revert(id)}>
              Go back to {id}
            </ActionButton>
          </li>
        ))}
      </ul>
      {outcome}
    </Section>
  );
}
