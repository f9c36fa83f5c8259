/** What went wrong, in the node's own words. */
import { MoveError } from '../../src/move/errors.ts';
import { ApiFailure } from './api-client.ts';
import { described, element } from './dom.ts';

interface FailureFacts {
  readonly message: string;
  readonly code: string;
  readonly status?: number;
}

function factsOf(error: unknown): FailureFacts {
  if (error instanceof ApiFailure) {
    const { message, code, status } = error;
    return status === 0 ? { message, code } : { message, code, status };
  }
  if (error instanceof MoveError) {
    return { message: error.message, code: error.code };
  }
  return { message: error instanceof Error ? error.message : String(error), code: 'page_error' };
}

/** Message, code and status of any failure, announced when it is put on the page. */
export function failurePanel(title: string, error: unknown): HTMLElement {
  const { message, code, status } = factsOf(error);
  return element(
    'section',
    { class: 'failure', role: 'alert' },
    element('h2', {}, title),
    element('p', { class: 'message' }, message),
    element(
      'dl',
      { class: 'facts compact' },
      described('Error code', element('code', {}, code)),
      status === undefined ? undefined : described('HTTP status', String(status)),
    ),
  );
}
