/** The request behind a view: how to repeat it with curl, and its response. */

import { counted, sizeText } from '../parts/number-text.ts';
import { CodeBlock, CopyButton, Facts } from '../parts/parts.tsx';
import { ApiFailure } from './api-client.ts';
import type { Asked } from './ask.tsx';
import { curlCommand } from './requests.ts';

interface PanelProps {
  readonly asked: Asked<unknown>;
  readonly title?: string;
  /** Similar requests that the view also made: how many, and their purpose. */
  readonly also?: readonly (readonly [count: number, purpose: string])[];
}

/** A section with the curl command, the status and the ledger headers of one request. */
export function RequestPanel({ asked, title = 'Request', also = [] }: PanelProps) {
  if (asked.request === undefined) return null;
  const command = curlCommand(asked.request, location.origin);
  const similar = also
    .filter(([count]) => count > 0)
    .map(([count, purpose]) => `; ${counted(count, 'more request')} ${purpose}`);
  const headers = [...(asked.answer?.ledgerHeaders ?? [])];
  return (
    <section class="request" aria-label={title}>
      <div class="section-head">
        <h2>{title}</h2>
        <CopyButton label="Copy as curl" text={command} />
      </div>
      <CodeBlock style="command" label="curl command">
        <code>{command}</code>
      </CodeBlock>
      <p class="request-status">
        {outcomeText(asked)}
        {similar}
      </p>
      {headers.length > 0 && (
        <details>
          <summary>Ledger headers</summary>
          <Facts style="facts compact" rows={headers} />
        </details>
      )}
    </section>
  );
}

function outcomeText({ request, answer, failure }: Asked<unknown>): string {
  if (failure instanceof ApiFailure) {
    return failure.status === 0
      ? `No answer (${failure.code})`
      : `${failure.status} ${failure.code}, in ${failure.elapsedMs.toFixed(0)} ms`;
  }
  if (request?.isStream) return 'An event for each new state, as it is committed';
  if (answer === undefined) return 'Waiting for the answer…';
  const size = sizeText(new Blob([answer.text]).size);
  return `${answer.status}, ${size} in ${answer.elapsedMs.toFixed(0)} ms`;
}
