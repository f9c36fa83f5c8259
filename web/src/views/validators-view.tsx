/** The validators of the epoch, with their power and what they proposed. */
import { Amount } from '../amounts.tsx';
import { Answered, useAnswer } from '../ask.tsx';
import { AccountId } from '../ids.tsx';
import { NATIVE_ASSET } from '../movements.ts';
import { groupDigits, shareText } from '../number-text.ts';
import { Facts, Section, Table } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { resourceRequest } from '../requests.ts';

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

export function ValidatorsView() {
  const asked = useAnswer<ValidatorSet>(resourceRequest('0x1', '0x1::stake::ValidatorSet'));
  const performance = useAnswer<Performance>(
    resourceRequest('0x1', '0x1::stake::ValidatorPerformance'),
  );
  const proposals = performance.json?.data.validators ?? [];
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
                  ['Voting power', <Amount key="power" asset={NATIVE_ASSET} amount={total} />],
                  ['Join with the next epoch', groupDigits(data.pending_active.length)],
                  ['Leave with the next epoch', groupDigits(data.pending_inactive.length)],
                ]}
              />
              <Section title="Active validators" count={all.length}>
                <Table
                  style="validators cards"
                  caption="Validators by their voting power"
                  columns={['Validator', '#Voting power', '#Share', '#Proposed', '#Missed']}
                >
                  {sorted.map(({ addr, voting_power, config }) => {
                    const { successful_proposals = '', failed_proposals = '' } =
                      proposals[Number(config.validator_index)] ?? {};
                    return (
                      <tr key={addr}>
                        <td>
                          <AccountId hex={addr} full />
                        </td>
                        <td class="number">
                          <Amount asset={NATIVE_ASSET} amount={BigInt(voting_power)} />
                        </td>
                        <td class="number">
                          {total > 0n && shareText(BigInt(voting_power), total)}
                        </td>
                        <td class="number">{groupDigits(successful_proposals)}</td>
                        <td class="number">{groupDigits(failed_proposals)}</td>
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
