/** Identifiers that lead to what they name and can be copied, and times as dates. */
import type { ComponentChildren } from 'preact';
import { groupDigits, readU64, shortHex, timeText } from './number-text.ts';
import { CopyButton } from './parts.tsx';
import { linkTo } from './route.ts';

/** A text with a button that copies `text`, as a link when it leads somewhere. */
export function Copied(props: {
  text: string;
  href?: string | undefined;
  children: ComponentChildren;
}) {
  const { text, href, children } = props;
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
  readonly href?: string;
}

/** A hash, which leads nowhere by itself. */
export function Hex({ hex, full, href }: HexProps) {
  return (
    <Copied text={hex} href={href}>
      <code>{full ? hex : shortHex(hex)}</code>
    </Copied>
  );
}

/** An account or an object. */
export function AccountId(props: HexProps) {
  return <Hex {...props} href={linkTo('account', { address: props.hex })} />;
}

/** A version, which leads to its transaction. */
export function VersionId({ version }: { version: string }) {
  return (
    <Copied text={version} href={linkTo('transaction', { id: version })}>
      {groupDigits(version)}
    </Copied>
  );
}

/** A block's height. */
export function HeightId({ height }: { height: string }) {
  return (
    <Copied text={height} href={linkTo('block', { height })}>
      {groupDigits(height)}
    </Copied>
  );
}

/** `0x1::coin::transfer`, which leads to the declaration; shortened, and `shown` where another text is better. */
export function DeclaredName({ name, shown }: { name: string; shown?: string }) {
  const [account = '', module, item] = name.split('::');
  return (
    <Copied text={name} href={linkTo('module', { account, name: module, item })}>
      <code>{shown ?? [shortHex(account), module, item].filter(Boolean).join('::')}</code>
    </Copied>
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
