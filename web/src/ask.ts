/** Asking the node from a component: one answer for one request, given up when the request changes. */
import { useEffect, useState } from 'preact/hooks';
import type { JsonValue } from '../../src/move/json/json-text.ts';
import { type ApiAnswer, send } from './api-client.ts';
import type { ApiRequest } from './api-request.ts';
import { parseJson } from './json-fields.ts';

/** What is known of a request. After a refresh that failed, the answer before is still there. */
export interface Asked {
  readonly request: ApiRequest | undefined;
  readonly answer?: ApiAnswer;
  readonly json?: JsonValue;
  readonly failure?: unknown;
  /** Times that it was asked again. */
  readonly refreshes: number;
}

/** Asks when `request` changes, and again when `refresh` does. */
export function useAnswer(request: ApiRequest | undefined, refresh?: unknown): Asked {
  const key = request && `${request.method} ${request.path} ${request.body ?? ''}`;
  const [known, setKnown] = useState<Asked & { readonly key: string | undefined }>();
  useEffect(() => {
    if (request === undefined) return;
    const run = new AbortController();
    const keep = (next: Partial<Asked>): void => {
      if (run.signal.aborted) return;
      setKnown((before) => ({
        ...(before?.key === key && next.failure !== undefined ? before : {}),
        ...next,
        request,
        key,
        refreshes: before?.key === key ? (before?.refreshes ?? 0) + 1 : 0,
      }));
    };
    send(request, run.signal).then(
      (answer) => {
        try {
          keep({ answer, json: parseJson(answer.text) });
        } catch (failure) {
          keep({ answer, failure });
        }
      },
      (failure: unknown) => keep({ failure }),
    );
    return () => run.abort();
  }, [key, refresh]);
  return known !== undefined && known.key === key ? known : { request, refreshes: 0 };
}

/** Runs `work` when `inputs` change; its signal aborts when they change again or the component goes. */
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
