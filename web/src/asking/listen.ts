/**
 * Server-sent events (docs/extensions.md), received while the page is visible. The browser reconnects by itself when a
 * connection breaks; when the node refuses, the page does, with increasing delays.
 */
import { ApiFailure, refusal, send } from './api-client.ts';
import type { ApiRequest } from './requests.ts';

/** First delay after a refusal. */
const RETRY_MS = 2_000;
/** Maximum delay; it doubles from RETRY_MS. */
const MAX_RETRY_MS = 30_000;

const again = new EventTarget();

/** Reconnects all listeners at once. */
export function listenAgain(): void {
  again.dispatchEvent(new Event('again'));
}

interface Listening {
  /** The stream to open from now on. If it is refused, a normal request with the same path tells why. */
  request(): ApiRequest;
  event(data: string): void;
  /** Why no events arrive; undefined when they arrive again. */
  failed(failure: ApiFailure | undefined): void;
  /** The page was hidden. */
  paused?(): void;
}

/** Listens until the signal aborts. */
export function listen(listening: Listening, signal: AbortSignal): void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let refusals = 0;
  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const refused = async (request: ApiRequest): Promise<void> => {
    const failure = await send(request, signal).then(
      () => noAnswer(request, 'the node takes no further listener'),
      (reason: unknown) => reason,
    );
    if (signal.aborted || source !== undefined || document.hidden) return;
    listening.failed(failure instanceof ApiFailure ? failure : noAnswer(request, String(failure)));
    refusals += 1;
    timer = setTimeout(open, Math.min(RETRY_MS * 2 ** (refusals - 1), MAX_RETRY_MS));
  };
  const open = (): void => {
    close();
    if (document.hidden) {
      listening.paused?.();
      return;
    }
    const request = listening.request();
    const opened = new EventSource(request.path);
    source = opened;
    opened.onopen = () => {
      refusals = 0;
      listening.failed(undefined);
    };
    opened.onmessage = ({ data }) => listening.event(data);
    opened.onerror = (event) => {
      if (event instanceof MessageEvent) {
        listening.failed(new ApiFailure(request, refusal(event.data)));
      } else if (opened.readyState === EventSource.CONNECTING) {
        const message = 'the node could not be reached; is it still running?';
        listening.failed(noAnswer(request, message));
      } else {
        close();
        void refused(request);
      }
    };
  };
  document.addEventListener('visibilitychange', open, { signal });
  again.addEventListener('again', open, { signal });
  signal.addEventListener('abort', close);
  open();
}

function noAnswer(request: ApiRequest, message: string): ApiFailure {
  return new ApiFailure(request, { code: 'no_answer', message });
}
