/** Requests from components, and what is shown until the node has answered, or when it refuses. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Section, Waiting } from '../parts/parts.tsx';
import { type ApiAnswer, send } from './api-client.ts';
import { type Json, parseJson } from './exact-json.ts';
import { useRecoveries, useReverts } from './live-ledger.ts';
import type { ApiRequest } from './requests.ts';

/** The state of a request. After a failed refresh it still has the previous answer. */
export interface Asked<T = Json> {
  readonly request: ApiRequest | undefined;
  readonly answer?: ApiAnswer;
  readonly json?: T;
  readonly failure?: unknown;
  /** Number of repeated requests. */
  readonly refreshes: number;
}

/** Sends `request` when it changes, and again when `refresh` does. */
export function useAnswer<T = Json>(request: ApiRequest | undefined, refresh?: unknown): Asked<T> {
  const key = request && `${request.method} ${request.path} ${request.body ?? ''}`;
  const [known, setKnown] = useState<Asked<T> & { readonly key: string | undefined }>();
  const recoveries = useRecoveries();
  useEffect(() => {
    if (request === undefined) return;
    const run = new AbortController();
    const hold = (next: Partial<Asked<T>>): void => {
      if (run.signal.aborted) return;
      setKnown((before) => {
        const isSame = before?.key === key;
        const refreshes = isSame ? before!.refreshes + 1 : 0;
        return { ...(isSame && 'failure' in next && before), ...next, request, key, refreshes };
      });
    };
    send(request, run.signal)
      .then((answer) => hold({ answer, json: parseJson<T>(answer.text) }))
      .catch((failure: unknown) => hold({ failure }));
    return () => run.abort();
  }, [key, refresh, recoveries]);
  return known?.key === key && known !== undefined ? known : { request, refreshes: 0 };
}

/** Runs `work` when `inputs` change. Its signal aborts when they change again or the component unmounts. */
export function useWork(
  work: (signal: AbortSignal) => Promise<void>,
  inputs: readonly unknown[],
): void {
  useEffect(() => {
    const run = new AbortController();
    work(run.signal).catch((error: unknown) => {
      if (!run.signal.aborted) reportError(error);
    });
    return () => run.abort();
  }, inputs);
}

interface AnsweredProps<T> {
  readonly asked: Asked<T>;
  /** Title of a failure. */
  readonly title: string;
  readonly children: (json: T) => ComponentChildren;
}

/** Renders the answer, the failure, or a note that the node is being asked. */
export function Answered<T>({ asked: { json, failure }, title, children }: AnsweredProps<T>) {
  return (
    <>
      {failure !== undefined && <Failure title={title} error={failure} />}
      {json !== undefined ? children(json) : failure === undefined && <Waiting />}
    </>
  );
}

export interface Listing<T> {
  readonly items: readonly T[];
  /** The request of the last page. */
  readonly asked: Asked<readonly T[]>;
  /** Requests the next page; undefined on the last one. */
  readonly more: (() => void) | undefined;
}

/**
 * A listing in pages.
 * @param request builds the request of the page that begins at a cursor
 */
export function useListing<T>(request: (cursor?: string) => ApiRequest): Listing<T> {
  const key = `${useReverts()} ${request().path}`;
  const [pages, setPages] = useState<{ key: string; items: readonly T[]; cursor?: string }>();
  const before = pages?.key === key ? pages : { key, items: [] };
  const asked = useAnswer<readonly T[]>(request(before.cursor));
  const items = [...before.items, ...(asked.json ?? [])];
  const cursor = asked.answer?.ledgerHeaders.get('cursor');
  return {
    items,
    asked,
    more: cursor === undefined ? undefined : () => setPages({ key, items, cursor }),
  };
}

interface ListedProps<T> {
  readonly listing: Listing<T>;
  readonly title: string;
  /** Shown for an empty listing. */
  readonly none: string;
  /** Shown above a non-empty listing. */
  readonly action?: ComponentChildren;
  readonly children: (items: readonly T[]) => ComponentChildren;
}

/** A section with all pages so far and a button for more. */
export function Listed<T>({
  listing: { items, asked, more },
  title,
  none,
  action,
  children,
}: ListedProps<T>) {
  const isAnswered = items.length > 0 || asked.json !== undefined;
  return (
    <Section title={title} count={isAnswered ? items.length : undefined}>
      {items.length > 0 && action}
      {items.length > 0 && children(items)}
      {isAnswered && items.length === 0 && !more && <p class="hint">{none}</p>}
      <Answered asked={asked} title={`No ${title.toLowerCase()}`}>
        {() => null}
      </Answered>
      {more && (
        <p class="table-foot">
          <button type="button" onClick={more}>
            More
          </button>
        </p>
      )}
    </Section>
  );
}
