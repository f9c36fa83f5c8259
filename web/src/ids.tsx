/** Identifiers that lead to what they name and can be copied, and times as dates. */
import type { ComponentChildren } from 'preact';
import { linkTo } from './navigation.ts';
import { groupDigits, readU64, shortHex, timeText } from './number-text.ts';
import { CopyButton } from './parts.tsx';

interface CopiedProps {
  readonly text: string;
  readonly href?: string;
  readonly children: ComponentChildren;
}

/** A text with a button that copies `text`, as a link when it leads somewhere. */
export function Copied({ text, href, children }: CopiedProps) {
  return (
    <span class="copied">
      {href === undefined ? (
        <span title={text}>{children}</span>
      ) : (
        <a href={href} title={text}>
          {children}
        </a>
      )}
      <CopyButton label={`Copy ${text}`} text={text} icon />
    </span>
  );
}

interface HexProps {
  readonly hex: string;
  /** Not shortened. */
  readonly full?: boolean;
}

/** An account or an object. */
export function AccountId({ hex, full }: HexProps) {
  return (
    <Copied text={hex} href={linkTo('account', { address: hex })}>
      <code>{full ? hex : shortHex(hex)}</code>
    </Copied>
  );
}

/** A hash that leads nowhere. */
export function Hex({ hex, full }: HexProps) {
  return (
    <Copied text={hex}>
      <code>{full ? hex : shortHex(hex)}</code>
    </Copied>
  );
}

/** A transaction by its hash. */
export function TransactionHash({ hex, full }: HexProps) {
  return (
    <Copied text={hex} href={linkTo('transaction', { id: hex })}>
      <code>{full ? hex : shortHex(hex)}</code>
    </Copied>
  );
}

/** A version, which leads to its transaction. */
export function VersionId({ version }: { version: bigint | string }) {
  return <a href={linkTo('transaction', { id: version })}>{groupDigits(version)}</a>;
}

/** A block's height. */
export function HeightId({ height }: { height: string }) {
  return <a href={linkTo('block', { height })}>{groupDigits(height)}</a>;
}

/** `0x1::coin::transfer`, which leads to the declaration. */
export function FunctionName({ name }: { name: string }) {
  const [account = '', module = '', item] = name.split('::');
  return (
    <a href={linkTo('module', { account, name: module, item })} title={name}>
      <code>
        {shortHex(account)}::{module}::{item}
      </code>
    </a>
  );
}

/** Microseconds since 1970 as a date; the exact value on hover. */
export function Time({ usecs }: { usecs: string | undefined }) {
  const value = readU64(usecs ?? '');
  if (value === undefined) return null;
  if (value === 0n) return <span>genesis</span>;
  const text = timeText(value);
  return (
    <time title={`${text}: ${value} µs after 1970`}>{text.replace(/\.\d+ UTC$/, ' UTC')}</time>
  );
}
