/** Requests that change a local network, and their outcomes. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { send } from '../asking/api-client.ts';
import { type Json, parseJson } from '../asking/exact-json.ts';
import { type ApiRequest, controlRequest } from '../asking/requests.ts';
import { announce, Failure } from '../parts/parts.tsx';

/** Sends a request. @throws ApiFailure */
export async function ask<T = Json>(request: ApiRequest, signal: AbortSignal): Promise<T> {
  return parseJson<T>((await send(request, signal)).text);
}

export function control<T = Json>(name: string, body: object, signal: AbortSignal): Promise<T> {
  return ask<T>(controlRequest(name, body), signal);
}

/** Runs one action at a time and shows its outcome or error. */
export function useAction() {
  const [said, setSaid] = useState<ComponentChildren>();
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = useRef(new AbortController());
  useEffect(() => () => run.current.abort(), []);
  const act = async (work: (signal: AbortSignal) => Promise<string>): Promise<void> => {
    const { signal } = run.current;
    setBusy(true);
    setFailure(undefined);
    setSaid(undefined);
    try {
      const text = await work(signal);
      setSaid(text);
      announce(text);
    } catch (error) {
      if (!signal.aborted) setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const outcome = (
    <>
      {said !== undefined && <p class="hint">{said}</p>}
      {failure !== undefined && <Failure title="It was refused" error={failure} />}
    </>
  );
  return { act, isBusy, outcome };
}

export function ActionButton(props: {
  children: ComponentChildren;
  isBusy: boolean;
  label?: string;
  onClick: () => void;
}) {
  const { children, isBusy, label, onClick } = props;
  return (
    <button type="button" class="quiet" disabled={isBusy} aria-label={label} onClick={onClick}>
      {children}
    </button>
  );
}
