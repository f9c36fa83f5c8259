/** Readable numbers, times and sizes. Integers never pass through a double. */

/** Decimal digits with a comma every three places: `18446744073709551615` → `18,446,744,073,709,551,615`. */
export function groupDigits(value: bigint | number | string): string {
  return String(value).replace(/\B(?=(?:\d{3})+(?!\d))/g, ',');
}

/** `one event`, `2 events`: a count with its noun. */
export function counted(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Reads a U64 in decimal digits; undefined for anything else. */
export function readU64(text: string): bigint | undefined {
  if (!/^[0-9]{1,30}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value < 1n << 64n ? value : undefined;
}

const USECS_PER_MS = 1000n;
/** The last microsecond that a JavaScript date can hold. */
const MAX_DATE_USECS = 8_640_000_000_000_000n * USECS_PER_MS;

/** Microseconds since 1970 as `2026-11-20 23:38:03.123456 UTC`; the plain number if it is beyond a date's range. */
export function timeText(usecs: bigint): string {
  if (usecs > MAX_DATE_USECS) return `${groupDigits(usecs)} µs after 1970`;
  const iso = new Date(Number(usecs / USECS_PER_MS)).toISOString();
  const fraction = String(usecs % 1_000_000n).padStart(6, '0');
  return `${iso.slice(0, iso.indexOf('.')).replace('T', ' ')}.${fraction} UTC`;
}

const DATE =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/** Microseconds since 1970 of `2026-01-31 12:00`, which is in UTC without a zone; undefined if it is not a time. */
export function readTime(text: string): bigint | undefined {
  const trimmed = text.trim().replace(/^@/, '');
  const [, zone] = DATE.exec(trimmed) ?? [];
  if (!DATE.test(trimmed)) return undefined;
  const place = trimmed.slice(0, trimmed.length - (zone?.length ?? 0)).trim();
  const [day, hour = '00:00'] = place.split(/[T ]/);
  const [whole = '', fraction = ''] = hour.split('.');
  const zoned = zone === undefined || /utc/i.test(zone) ? 'Z' : zone.toUpperCase();
  const ms = Date.parse(`${day}T${whole.padStart(5, '0')}${zoned}`);
  if (Number.isNaN(ms) || ms < 0) return undefined;
  return BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

const UNITS: readonly (readonly [string, number])[] = [
  ['year', 31_557_600],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** `3 minutes ago`, `in 2 hours` or `just now`, for two times in milliseconds since 1970. */
export function agoText(timeMs: number, nowMs: number): string {
  const seconds = Math.round(Math.abs(nowMs - timeMs) / 1000);
  for (const [unit, unitSeconds] of UNITS) {
    if (seconds >= unitSeconds) {
      const text = counted(Math.floor(seconds / unitSeconds), unit);
      return timeMs <= nowMs ? `${text} ago` : `in ${text}`;
    }
  }
  return 'just now';
}

const MS_PER_DAY = 86_400_000;

/** For lists: `3 minutes ago`, or `2026-02-16 13:44` (UTC) if it is more than a day ago. */
export function listedTimeText(usecs: bigint, nowMs: number): string {
  const timeMs = Number(usecs / USECS_PER_MS);
  if (nowMs - timeMs < MS_PER_DAY) return agoText(timeMs, nowMs);
  return timeText(usecs).replace(/:\d+\.\d+ UTC$/, '');
}

/** Age of the ledger's last block; genesis has no time. */
export function ledgerAgeText(usecs: bigint): string {
  return usecs === 0n ? 'genesis' : agoText(Number(usecs / USECS_PER_MS), Date.now());
}

/** `812 bytes`, `1.2 kB`, `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** An amount in an asset's units, exact: `999995525500` with 8 decimals is `9,999.955255`. */
export function amountText(value: bigint, decimals: number): string {
  const digits = String(value).padStart(decimals + 1, '0');
  const whole = groupDigits(digits.slice(0, digits.length - decimals));
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Parses an amount in the format of `amountText`. @throws Error for other texts */
export function parseAmount(text: string, decimals: number): bigint {
  const [, whole = '', fraction = ''] = /^([\d,]*\d)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '' || fraction.length > decimals) {
    throw new Error(
      `${JSON.stringify(text)} is no amount: digits, at most ${decimals} of them after a point`,
    );
  }
  return BigInt(whole.replaceAll(',', '') + fraction.padEnd(decimals, '0'));
}

/** The unit in which an asset is counted. */
export interface AssetUnit {
  readonly symbol: string;
  readonly decimals: number;
}

/** `0xcafeef72…9212691b` for longer texts; others unchanged. */
export function shortHex(hex: string): string {
  return hex.length > 24 ? `${hex.slice(0, 10)}…${hex.slice(-8)}` : hex;
}

/** `0xcafe…691b`, for places with many of them; the full text is shown on hover. */
export function briefHex(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex;
}

/** The smaller of two. */
export function lesser(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

/** The larger of two. */
export function greater(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

/** `12.34 %`, rounded down; a share above 0 is never shown as 0. */
export function shareText(part: bigint, whole: bigint): string {
  const hundredths = (part * 10_000n) / whole;
  if (hundredths === 0n && part > 0n) return '< 0.01 %';
  return `${amountText(hundredths, 2)} %`;
}
