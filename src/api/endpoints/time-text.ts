/** Parses times as texts: RFC 3339, with at most six digits of a second's fraction. */

const TIME =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:Z|([+ -])(\d\d):(\d\d))$/i;
const USECS_PER_MS = 1000n;
const MS_PER_MINUTE = 60_000;
const MINUTES_PER_HOUR = 60;
const FRACTION_DIGITS = 6;

/**
 * A time in microseconds since 1970; `undefined` for a text that is not a time, or for an earlier time. A space before
 * an offset is a `+` that was decoded in a query (`application/x-www-form-urlencoded`).
 */
export function parseTimeText(text: string): bigint | undefined {
  const found = TIME.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as number[];
  const [fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = found.slice(7);
  const localMs = Date.UTC(year!, month! - 1, day, hour, minute, second);
  // Date.UTC normalizes a 30 February, a 25th hour or a leap second, which no block has. They are refused.
  const written = text.slice(0, 19).toUpperCase();
  if (!Number.isFinite(localMs) || !new Date(localMs).toISOString().startsWith(written)) {
    return undefined;
  }
  const [hours, minutes] = [Number(offsetHours), Number(offsetMinutes)];
  if (hours > 23 || minutes > 59) return undefined;
  const offsetMs = (hours * MINUTES_PER_HOUR + minutes) * MS_PER_MINUTE;
  const ms = BigInt(sign === '-' ? localMs + offsetMs : localMs - offsetMs);
  const usecs = ms * USECS_PER_MS + BigInt(fraction.padEnd(FRACTION_DIGITS, '0'));
  return usecs < 0n ? undefined : usecs;
}
