/** Amounts of assets, and one-line summaries of transactions, with links. */

import { AccountId, DeclaredName } from '../parts/ids.tsx';
import { amountText, groupDigits, shortHex } from '../parts/number-text.ts';
import { linkTo } from '../route.ts';
import { shortAddress } from '../transactions/movements.ts';
import type { Piece } from '../transactions/summary.ts';
import { useUnit } from './assets.ts';

/** Name of an asset whose symbol is unknown. */
function assetName(asset: string): string {
  const [address = '', ...names] = asset.split('::');
  return names.at(-1) ?? shortHex(address);
}

interface AmountProps {
  readonly asset: string;
  readonly amount: bigint;
  /** Adds + to positive amounts. */
  readonly isChange?: boolean;
}

/** `0.0044 APT`: exact digits, and the symbol as a link to the asset. */
export function Amount({ asset, amount, isChange = false }: AmountProps) {
  const unit = useUnit(asset);
  const sign = amount < 0n ? '−' : isChange ? '+' : '';
  const digits = amount < 0n ? -amount : amount;
  const style = isChange ? (amount < 0n ? 'amount loss' : 'amount gain') : 'amount';
  return (
    <span class={style} title={`${sign}${groupDigits(digits)} in the smallest unit of ${asset}`}>
      {sign}
      {amountText(digits, unit?.decimals ?? 0)}{' '}
      <a href={linkTo('asset', { asset })}>{unit?.symbol ?? assetName(asset)}</a>
    </span>
  );
}

/** The pieces of a summary on one line. */
export function Summary({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <span class="summary">
      {pieces.map((piece, at) => {
        if (typeof piece === 'string') return piece;
        if ('account' in piece) return <AccountId key={at} hex={piece.account} isPlain />;
        if ('asset' in piece) return <Amount key={at} {...piece} />;
        if ('call' in piece) return <DeclaredName key={at} name={piece.call} isPlain />;
        const address = shortAddress(piece.token);
        if (piece.name === undefined) return <AccountId key={at} hex={address} isPlain />;
        return (
          <a key={at} href={linkTo('token', { address })} title={address}>
            {piece.name}
          </a>
        );
      })}
    </span>
  );
}
