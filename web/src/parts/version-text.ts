/** Versions as readers type them: digits, or a time. */
import { ApiFailure, send } from '../asking/api-client.ts';
import { parseJson } from '../asking/exact-json.ts';
import { versionAtRequest } from '../asking/requests.ts';
import { readTime, readU64 } from './number-text.ts';

export const VERSION_HINT = 'A version, such as 5,010, or a time, such as 2026-01-31 12:00 (UTC)';

/**
 * The version that a text means: its digits, or the last version at a time.
 * @throws RangeError for anything else; ApiFailure if the node refuses
 */
export async function readVersion(text: string, signal: AbortSignal): Promise<string> {
  const digits = text.replaceAll(/[,\s]/g, '');
  if (readU64(digits) !== undefined) return digits;
  const usecs = readTime(text);
  if (usecs === undefined) throw new RangeError(`${VERSION_HINT}, not “${text.trim()}”`);
  const { text: body, request } = await send(versionAtRequest(usecs), signal);
  const { version } = parseJson<{ readonly version?: string }>(body);
  if (version !== undefined) return version;
  throw new ApiFailure(request, { code: 'unreadable_answer', message: 'the answer is no version' });
}
