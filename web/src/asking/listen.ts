/**
 * Server-sent events (docs/extensions.md), listened to while the page can be seen. The browser connects again by itself
 * when a connection breaks; when the node refuses, the page does, with waits that grow.
 */
import { ApiFailure, refusal, send } from './api-client.ts';
import type { ApiRequest } from './requests.ts';

/** First wait after a refusal. */
const RETRY_MS = 2_000;
/** Longest wait; it doubles from RETRY_MS. */
const MAX_RETRY_MS = 30_000;

const again = new EventTarget();

/** Connects at once whatever listens. */
export function listenAgain(): void {
  again.dispatchEvent(new Event('again'));
}

interface Listening {
  /** What to listen to from now on; a page with the same path says why a stream is refused. */
  request(): ApiRequest;
  event(data: string): void;
  /** Why nothing comes; undefined: it comes again. */
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
