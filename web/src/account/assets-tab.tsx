/** Balances of all assets of an account, and its newest balance of the native one. */

import type { HeldBalance } from '../asking/answers.ts';
import { Listed, type Listing, useListing } from '../asking/ask.tsx';
import { listingRequest, NATIVE_COIN } from '../asking/requests.ts';
import { Amount } from '../assets/amounts.tsx';
import { amountText, groupDigits } from '../parts/number-text.ts';
import { Table } from '../parts/parts.tsx';
import { chosenVersion, linkTo } from '../route.ts';
import { NATIVE_ASSET } from '../transactions/movements.ts';

export function useBalances(address: string): Listing<HeldBalance> {
  return useListing<HeldBalance>((start) => listingRequest(address, 'balances', { start }));
}

/** The native asset's balance in large type, and the number of other assets. */
export function MainBalance({
  address,
  listing,
}: {
  address: string;
  listing: Listing<HeldBalance>;
}) {
  const { items, asked, more } = listing;
  if (asked.json === undefined && items.length === 0) {
    return asked.failure === undefined ? (
      <p class="big-figure" aria-busy="true">
        …
      </p>
    ) : null;
  }
  const isNative = ({ metadata, asset_type }: HeldBalance) =>
    metadata === NATIVE_ASSET || asset_type === NATIVE_COIN;
  const native = items.find(isNative);
  const others = items.filter((held) => !isNative(held));
  const version = chosenVersion();
  return (
    <div class="main-balance">
      <p class="big-figure">
        <Amount asset={NATIVE_ASSET} amount={BigInt(native?.amount ?? 0)} />
      </p>
      <p class="figure-note">
        {version !== undefined && `at version ${groupDigits(version)}. `}
        {others.length > 0 && (
          <a href={linkTo('account', { address, show: 'assets' })}>
            and {groupDigits(others.length)}
            {more === undefined ? '' : ' or more'} other {others.length === 1 ? 'asset' : 'assets'}
          </a>
        )}
      </p>
    </div>
  );
}

export function Assets({ address }: { address: string }) {
  return (
    <Listed
      listing={useBalances(address)}
      title="Assets"
      none="It has nothing in coin stores or primary stores."
    >
      {(balances) => (
        <Table
          style="assets cards"
          caption="Balances of the account"
          columns={['Asset', '#Balance', 'History']}
        >
          {balances.map((held) => (
            <AssetRow key={held.asset_type} address={address} {...held} />
          ))}
        </Table>
      )}
    </Listed>
  );
}

type AssetRowProps = { readonly address: string } & HeldBalance;

function AssetRow({ address, asset_type, amount, name, symbol, decimals }: AssetRowProps) {
  return (
    <tr>
      <td>
        <a href={linkTo('asset', { asset: asset_type })}>{name || <code>{asset_type}</code>}</a>
        {name && <code class="hint type-of"> {asset_type}</code>}
      </td>
      <td class="number">
        <span title={`${groupDigits(amount)} in the smallest unit`}>
          {amountText(BigInt(amount), decimals ?? 0)} {symbol ?? 'in the smallest unit'}
        </span>
      </td>
      <td>
        <a href={linkTo('balance', { account: address, asset: asset_type })}>
          Chart<span class="visually-hidden"> of {asset_type}</span>
        </a>
      </td>
    </tr>
  );
}
