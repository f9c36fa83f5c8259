/** `daybook encode` and `daybook decode`: convert submissions with a ledger on disk, without a server. */
import {
  DecodeError,
  decodeSubmission,
  parseMessageText,
  submissionJson,
} from '../ledger/decode/index.ts';
import { EncodeError, encodeSubmission } from '../ledger/encode/index.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { LedgerView } from '../ledger/ledger-view.ts';
import { openLedger } from '../ledger/open.ts';
import { formatHex } from '../move/bcs/hex.ts';
import { plainJson } from '../move/json/json-plain.ts';
import { NodeError } from './node-error.ts';
import { withReader } from './open-store.ts';
import type { NodeSettings } from './settings/settings.ts';

/** The settings that affect the output of the commands. */
type SubmissionSettings = Pick<NodeSettings, 'data' | 'signingDomainPrefix'>;

/**
 * The signing message of a request, in hex with `0x`.
 * @param request JSON in UTF-8
 * @throws NodeError `bad_input` with the text that a client gets over HTTP; `no_ledger`, `data_not_usable`
 */
export function encodeRequest(settings: SubmissionSettings, request: Buffer): Promise<string> {
  return withLedger(settings, async ({ lookupModule, state: { chainId } }, domainPrefix) =>
    formatHex(await encodeSubmission(request, { chainId, domainPrefix, lookupModule })),
  );
}

/**
 * The request that a signing message is made from, with notes, as values of JSON.
 * @param text hex, `0x` and quotes optional, surrounding blanks ignored
 * @throws NodeError as encodeRequest
 */
export function decodeMessage(settings: SubmissionSettings, text: string) {
  return withLedger(settings, async ({ lookupModule, state }, domainPrefix) => {
    const { chainId, timestampUsecs } = state;
    const bytes = parseMessageText(withoutQuotes(text.trim()));
    const context = { chainId, timestampUsecs, domainPrefix, lookupModule };
    return plainJson(submissionJson(await decodeSubmission(bytes, context)));
  });
}

/** The interface answers with a JSON string, which may be given as it is. */
function withoutQuotes(text: string): string {
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}

function withLedger<T>(
  { data, signingDomainPrefix }: SubmissionSettings,
  answer: (view: LedgerView, domainPrefix: string) => Promise<T>,
): Promise<T> {
  return withReader(data, async (store) => {
    try {
      return await answer(await openLedger(store).view(), signingDomainPrefix);
    } catch (cause) {
      if (cause instanceof EncodeError || cause instanceof DecodeError) {
        throw new NodeError('bad_input', cause.message, { cause });
      }
      if (!(cause instanceof LedgerError)) throw cause;
      const code = cause.code === 'ledger_unavailable' ? 'no_ledger' : 'data_not_usable';
      throw new NodeError(code, cause.message, { cause });
    }
  });
}
