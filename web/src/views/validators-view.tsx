/** The validators of the epoch, with their voting power and proposals. */

import type { Resource } from '../asking/answers.ts';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { RequestPanel } from '../asking/request-panel.tsx';
import { batchRequest, resourceRequest } from '../asking/requests.ts';
import { Amount } from '../assets/amounts.tsx';
import { AccountId, Time } from '../parts/ids.tsx';
import { groupDigits, readU64, shareText } from '../parts/number-text.ts';
import { type FactRow, Facts, Section, Table } from '../parts/parts.tsx';
import { NATIVE_ASSET, textAt } from '../transactions/movements.ts';

export interface ValidatorSet {
  readonly data: {
    readonly active_validators: readonly {
      readonly addr: string;
      readonly voting_power: string;
      readonly config: { readonly validator_index: string };
    }[];
    readonly pending_active: readonly unknown[];
    readonly pending_inactive: readonly unknown[];
    readonly total_voting_power: string;
  };
}

interface Performance {
  readonly data: {
    readonly validators: readonly {
      readonly successful_proposals: string;
      readonly failed_proposals: string;
    }[];
  };
}

interface StakePools {
  readonly responses: readonly {
    readonly body: {
      readonly data?: { readonly operator_address: string; readonly locked_until_secs: string };
    };
  }[];
}

/** Maximum number of reads in a batch (docs/extensions.md); validators beyond it are shown without operator. */
const MAX_POOLS = 256;

/** The stake pools of validators, by address. */
function usePools(addresses: readonly string[] | undefined) {
  const asked = addresses?.slice(0, MAX_POOLS) ?? [];
  const reads = asked.map((address) => resourceRequest(address, '0x1::stake::StakePool'));
  const { json } = useAnswer<StakePools>(reads.length === 0 ? undefined : batchRequest(reads));
  return new Map(asked.map((address, at) => [address, json?.responses[at]?.body.data]));
}

/** When the epoch began, and when the first block may end it. */
function useEpoch(): FactRow[] {
  const begun = useAnswer<Resource>(resourceRequest('0x1', '0x1::reconfiguration::Configuration'));
  const block = useAnswer<Resource>(resourceRequest('0x1', '0x1::block::BlockResource'));
  const { data } = begun.json ?? {};
  const since = readU64(textAt(data, 'last_reconfiguration_time') ?? '');
  const length = readU64(textAt(block.json?.data, 'epoch_interval') ?? '');
  if (since === undefined || length === undefined) return [];
  return [
    ['Epoch', groupDigits(textAt(data, 'epoch') ?? '')],
    ['Began', <Time key="began" usecs={String(since)} />],
    ['Ends at the earliest', <Time key="ends" usecs={String(since + length)} />],
  ];
}

export function ValidatorsView() {
  const asked = useAnswer<ValidatorSet>(resourceRequest('0x1', '0x1::stake::ValidatorSet'));
  const performance = useAnswer<Performance>(
    resourceRequest('0x1', '0x1::stake::ValidatorPerformance'),
  );
  const proposals = performance.json?.data.validators ?? [];
  const pools = usePools(asked.json?.data.active_validators.map(({ addr }) => addr));
  const epoch = useEpoch();
  return (
    <>
      <Answered asked={asked} title="No validators">
        {({ data }) => {
          const all = data.active_validators;
          const total = all.reduce((sum, one) => sum + BigInt(one.voting_power), 0n);
          const sorted = [...all].sort((a, b) =>
            BigInt(a.voting_power) < BigInt(b.voting_power) ? 1 : -1,
          );
          return (
            <>
              <Facts
                rows={[
                  ...epoch,
                  ['Voting power', <Amount key="power" asset={NATIVE_ASSET} amount={total} />],
                  ['Join with the next epoch', groupDigits(data.pending_active.length)],
                  ['Leave with the next epoch', groupDigits(data.pending_inactive.length)],
                ]}
              />
              <Section title="Active validators" count={all.length}>
                <Table
                  style="validators cards"
                  caption="Validators by their voting power"
                  columns={[
                    ...['Validator', 'Operator', 'Locked until'],
                    ...['#Voting power', '#Share', '#Proposed', '#Missed'],
                  ]}
                >
                  {sorted.map(({ addr, voting_power, config }) => {
                    const { successful_proposals = '', failed_proposals = '' } =
                      proposals[Number(config.validator_index)] ?? {};
                    const { operator_address: operator, locked_until_secs } = pools.get(addr) ?? {};
                    return (
                      <tr key={addr}>
                        <td>
                          <AccountId hex={addr} />
                        </td>
                        <td class="operator">{operator && <AccountId hex={operator} isBrief />}</td>
                        <td class="locked">
                          {locked_until_secs && <Time usecs={`${locked_until_secs}000000`} />}
                        </td>
                        <td class="number">
                          <Amount asset={NATIVE_ASSET} amount={BigInt(voting_power)} />
                        </td>
                        <td class="number">
                          {total > 0n && shareText(BigInt(voting_power), total)}
                        </td>
                        <td class="number proposed">{groupDigits(successful_proposals)}</td>
                        <td class="number missed">{groupDigits(failed_proposals)}</td>
                      </tr>
                    );
                  })}
                </Table>
                <p class="hint">Proposals are those of this epoch so far.</p>
              </Section>
            </>
          );
        }}
      </Answered>
      <RequestPanel asked={asked} />
    </>
  );
}
