/** Identifiers with links and copy buttons, and times as dates. */
import type { ComponentChildren } from 'preact';
import { linkTo } from '../route.ts';
import { useNow } from './now.ts';
import {
  briefHex,
  groupDigits,
  listedTimeText,
  readU64,
  shortHex,
  timeText,
} from './number-text.ts';
import { CopyButton } from './parts.tsx';

/** A text with a button that copies `text`; a link if it has a target. */
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
  /** Without abbreviation. */
  readonly full?: boolean;
  readonly href?: string;
  /** For use within a sentence: without a copy button. */
  readonly isPlain?: boolean;
  /** For tables with many of them. */
  readonly isBrief?: boolean;
}

/** A hash, which has no page of its own. */
export function Hex({ hex, full, href, isBrief }: HexProps) {
  const short = isBrief ? briefHex(hex) : shortHex(hex);
  return (
    <Copied text={hex} href={href}>
      <code>{full ? hex : short}</code>
    </Copied>
  );
}

/** An account or an object. */
export function AccountId(props: HexProps) {
  if (props.isPlain) {
    return (
      <a href={linkTo('account', { address: props.hex })} title={props.hex}>
        <code>{shortHex(props.hex)}</code>
      </a>
    );
  }
  return <Hex {...props} href={linkTo('account', { address: props.hex })} />;
}

/** A version that links to its transaction. */
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

/** `0x1::coin::transfer`, abbreviated, with a link to the declaration. `shown` replaces the text. */
export function DeclaredName(props: {
  name: string;
  shown?: string;
  isPlain?: boolean;
  isBrief?: boolean;
}) {
  const { name, shown, isPlain, isBrief } = props;
  const [account = '', module, item] = name.split('::');
  const href = linkTo('module', { account, name: module, item });
  const text = (
    <code>
      {shown ??
        [isBrief ? briefHex(account) : shortHex(account), module, item].filter(Boolean).join('::')}
    </code>
  );
  if (isPlain) {
    return (
      <a href={href} title={name}>
        {text}
      </a>
    );
  }
  return (
    <Copied text={name} href={href}>
      {text}
    </Copied>
  );
}

interface TimeProps {
  readonly usecs: string | undefined;
  /** `3 minutes ago`; the date if it is more than a day ago. */
  readonly isRelative?: boolean;
}

/** Microseconds since 1970 as a date; the exact value on hover. */
export function Time({ usecs, isRelative = false }: TimeProps) {
  const nowMs = useNow();
  const value = readU64(usecs ?? '');
  if (value === undefined) return null;
  if (value === 0n) return <span>genesis</span>;
  const text = timeText(value);
  const shown = isRelative ? listedTimeText(value, nowMs) : text.replace(/\.\d+ UTC$/, ' UTC');
  return <time title={`${text}: ${value} µs after 1970`}>{shown}</time>;
}
