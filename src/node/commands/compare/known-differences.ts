/**
 * Intended differences from the reference (docs/differences.md), as far as two answers show that it is one of
 * them. They are listed and do not count.
 */
import { type Answer, BCS_TYPE, ledgerState, mediaTypeOf } from '../../../remote/answer.ts';
import type { RoutedRequest } from './compared-request.ts';

interface KnownDifference {
  /** Its subject in docs/differences.md. */
  readonly subject: string;
  /** Either node may be the one of the reference. */
  matches(request: RoutedRequest, answers: readonly [AnswerSummary, AnswerSummary]): boolean;
}

interface AnswerSummary {
  readonly status: number;
  /** `error_code` of an error. */
  readonly code: string | undefined;
  readonly message: string;
}

const hasAnswer = (answers: readonly AnswerSummary[], status: number, code?: string): boolean =>
  answers.some(
    (answer) => answer.status === status && (code === undefined || answer.code === code),
  );

const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    subject: 'encode submission as BCS',
    matches: ({ endpoint }, answers) =>
      endpoint?.operationId === 'encode_submission' &&
      hasAnswer(answers, 400, 'bcs_not_supported') &&
      hasAnswer(answers, 200),
  },
  {
    subject: 'errors with an `Origin` header',
    matches: ({ headers }, [ours, theirs]) =>
      headers['origin'] !== undefined &&
      ours.status === theirs.status &&
      ours.status >= 400 &&
      (ours.code === undefined) !== (theirs.code === undefined),
  },
  {
    subject: 'first requested event pruned',
    matches: ({ endpoint }, answers) =>
      endpoint?.operationId.startsWith('get_events_') === true &&
      hasAnswer(answers, 410, 'version_pruned') &&
      (hasAnswer(answers, 500) || hasAnswer(answers, 200)),
  },
  {
    subject: '`/v1/transactions` with a pruned `start`',
    matches: ({ endpoint }, answers) =>
      endpoint?.operationId === 'get_transactions' &&
      hasAnswer(answers, 410, 'version_pruned') &&
      hasAnswer(answers, 500, 'internal_error'),
  },
  {
    subject: '`/v1/transactions/auxiliary_info` of pruned versions',
    matches: ({ endpoint }, answers) =>
      endpoint?.operationId === 'get_transactions_auxiliary_info' &&
      hasAnswer(answers, 410, 'version_pruned') &&
      hasAnswer(answers, 200),
  },
  {
    subject: 'transactions of a ledger that does not store them',
    matches: (_, answers) =>
      answers.filter(({ code, message }) => code === 'api_disabled' && / keeps no /.test(message))
        .length === 1,
  },
  {
    subject: 'payloads without a form in JSON',
    matches: ({ endpoint }, answers) =>
      endpoint?.tag === 'Transactions' &&
      endpoint.method === 'GET' &&
      hasAnswer(answers, 500) &&
      answers.some(({ message }) => /"(?:module_bundle|daybook_raw)_payload"/.test(message)),
  },
  {
    subject: 'view',
    matches: ({ endpoint }, answers) =>
      endpoint?.operationId === 'view' &&
      answers.filter(({ status, code }) => status === 403 && code === 'api_disabled').length === 1,
  },
  {
    subject: '`/v1/info`',
    matches: ({ endpoint }) => endpoint?.operationId === 'info',
  },
  {
    subject: '`daybook_…`, `decode_submission`',
    matches: ({ endpoint }, answers) =>
      endpoint?.isExtension === true && answers.filter(({ status }) => status === 404).length === 1,
  },
];

export const KNOWN_SUBJECTS: readonly string[] = KNOWN_DIFFERENCES.map(({ subject }) => subject);
/** The subject of data that only one of the two nodes has pruned (docs/compare.md). */
export const PRUNED_BY_ONE = 'pruned by one node';
/** Operations that list records from the oldest retained one on. */
const HISTORIES: readonly string[] = [
  ...['get_account_transactions', 'get_account_transaction_summaries', 'get_events_by_type'],
  ...['get_events_by_creation_number', 'get_events_by_event_handle'],
];

/** The subject of the known difference between two different answers; `undefined` for another one. */
export function knownDifference(
  request: RoutedRequest,
  ours: Answer,
  theirs: Answer,
): string | undefined {
  const answers = [summaryOf(ours), summaryOf(theirs)] as const;
  const known = KNOWN_DIFFERENCES.find(({ matches }) => matches(request, answers));
  return known?.subject ?? (isPrunedByOne(request, ours, theirs) ? PRUNED_BY_ONE : undefined);
}

/** Whether one node has pruned what the other one answers: all of it, or the oldest records of a list. */
function isPrunedByOne({ endpoint }: RoutedRequest, ours: Answer, theirs: Answer): boolean {
  const [own, other] = [ours, theirs].map(({ headers }) => ledgerState(headers).oldestVersion);
  if (own === undefined || other === undefined || own === other) return false;
  const [shorter, longer] = own > other ? [ours, theirs] : [theirs, ours];
  if (longer.status !== 200) return false;
  if (shorter.status === 410) return true;
  const isHistory = endpoint !== undefined && HISTORIES.includes(endpoint.operationId);
  if (!isHistory || shorter.status !== 200) return false;
  const [end, whole] = [recordsOf(shorter), recordsOf(longer)];
  return end.length < whole.length && whole.subarray(whole.length - end.length).equals(end);
}

/** The bytes of a list without the bracket or the count at its beginning. */
function recordsOf(answer: Answer): Buffer {
  const { body } = answer;
  if (mediaTypeOf(answer) !== BCS_TYPE) return body.subarray(1);
  return body.subarray(body.findIndex((byte) => byte < 0x80) + 1);
}

function summaryOf({ status, body }: Answer): AnswerSummary {
  const message = body.toString('latin1');
  if (status < 400) return { status, code: undefined, message };
  return { status, code: /"error_code":"(\w+)"/.exec(message)?.[1], message };
}
