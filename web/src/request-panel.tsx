/** The request behind a view: how to repeat it with curl, and what came back. */
import { useId } from 'preact/hooks';
import { ApiFailure } from './api-client.ts';
import type { Asked } from './ask.ts';
import { curlCommand } from './curl.ts';
import { counted, sizeText } from './number-text.ts';
import { CodeBlock, CopyButton, Fact } from './parts.tsx';

interface PanelProps {
  readonly asked: Asked;
  readonly title?: string;
  /** Similar requests that the view made besides the shown one: how many, what for. */
  readonly also?: readonly (readonly [count: number, purpose: string])[];
}

/** A section with the curl command, the status and the ledger headers of one request. */
export function RequestPanel({ asked, title = 'Request', also = [] }: PanelProps) {
  const id = useId();
  if (asked.request === undefined) return null;
  const command = curlCommand(asked.request, location.origin);
  const similar = also
    .filter(([count]) => count > 0)
    .map(([count, purpose]) => `; ${counted(count, 'more request')} ${purpose}`);
  const headers = [...(asked.answer?.ledgerHeaders ?? [])];
  return (
    <section class="request" aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
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
          <dl class="facts compact">
            {headers.map(([name, value]) => (
              <Fact key={name} term={name}>
                {value}
              </Fact>
            ))}
          </dl>
        </details>
      )}
    </section>
  );
}

function outcomeText({ answer, failure }: Asked): string {
  if (failure instanceof ApiFailure) {
    return failure.status === 0
      ? `No answer (${failure.code})`
      : `${failure.status} ${failure.code}, in ${failure.elapsedMs.toFixed(0)} ms`;
  }
  if (answer === undefined) return 'Waiting for the answer…';
  const size = sizeText(new Blob([answer.text]).size);
  return `${answer.status}, ${size} in ${answer.elapsedMs.toFixed(0)} ms`;
}
