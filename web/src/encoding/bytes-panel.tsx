/** A signing message: its hex, its labelled parts, and its meaning as decoded by the node. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { formatHex } from '../../../src/move/bcs/hex.ts';
import type { Payload } from '../asking/answers.ts';
import { ApiFailure } from '../asking/api-client.ts';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { formatJson, isObject, type JsonObject } from '../asking/exact-json.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { decodeRequest } from '../asking/requests.ts';
import { JsonField } from '../modules/move-text.tsx';
import { counted, groupDigits } from '../parts/number-text.ts';
import { announce, CodeBlock, CopyButton, type FactRow, Facts, Table } from '../parts/parts.tsx';
import { divideSigningMessage, hexDigits } from './signing-message.ts';

/** Shows the message and asks the node to decode it. */
export function BytesPanel({ message }: { message: Uint8Array }) {
  const { parts, problem } = useMemo(() => divideSigningMessage(message), [message]);
  const [marked, setMarked] = useState<number>();
  const hexOf = (start: number, end: number) => hexDigits(message.subarray(start, end));
  useEffect(() => announce(`${counted(message.length, 'byte')} to sign`), [message]);
  return (
    <div class="bytes">
      <section aria-label="Bytes to sign">
        <div class="section-head">
          <h2>Bytes to sign, {counted(message.length, 'byte')}</h2>
          <CopyButton label="Copy hex" text={formatHex(message)} />
        </div>
        <CodeBlock style="hex" label="Signing message in hex">
          <code>
            {parts.map(({ start, end }, at) => (
              <span key={start} class={at === marked ? 'run marked' : 'run'}>
                {hexOf(start, end)}
              </span>
            ))}
          </code>
        </CodeBlock>
        {problem !== undefined && (
          <p class="note" role="status">
            These bytes could not be taken apart to their end: {problem}.
          </p>
        )}
        <Table
          style="parts cards"
          caption="Parts of the signing message"
          columns={['Part', 'Bytes', 'Meaning']}
        >
          {parts.map(({ label, start, end, meaning }, at) => (
            <tr
              key={start}
              onPointerEnter={() => setMarked(at)}
              onPointerLeave={() => setMarked(undefined)}
              onFocusIn={() => setMarked(at)}
              onFocusOut={() => setMarked(undefined)}
            >
              <th scope="row">
                <button type="button" class="part">
                  {label}
                </button>
              </th>
              <td>
                <code>{hexOf(start, end)}</code>
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </Table>
      </section>
      <Meaning hex={formatHex(message)} />
    </div>
  );
}

/** The decoded request, with the node's notes (docs/extensions.md). */
interface Decoded extends JsonObject {
  readonly daybook_notes?: Notes;
  readonly payload: Payload;
}

interface Notes extends JsonObject {
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly signing_scheme: string;
  readonly fee_payer_address?: string;
  readonly max_fee_octas: string;
  readonly replay_protection: string;
  readonly expires_at: string;
  readonly encodes_back: boolean;
  readonly parameter_types?: readonly string[];
}

function Meaning({ hex }: { hex: string }) {
  const asked = useAnswer<Decoded>(decodeRequest(hex));
  const { failure } = asked;
  const isOffered = !(
    failure instanceof ApiFailure &&
    failure.status === 404 &&
    failure.code === 'web_framework_error'
  );
  return (
    <section aria-label="Meaning">
      <h2>Meaning, as the node reads the bytes</h2>
      {isOffered ? (
        <Answered asked={asked} title="The node could not decode these bytes">
          {(decoded) => <Shown decoded={decoded} />}
        </Answered>
      ) : (
        <p class="note">
          This node does not offer decoding (
          <code>{`${failure.status} ${failure.code}: ${failure.message}`}</code>). The parts above
          come from the bytes alone.
        </p>
      )}
      <RequestPanel asked={asked} title="Request for the meaning" />
    </section>
  );
}

/** Warnings first, then the facts, the arguments with their types, and the request as JSON (src/submission/decode). */
function Shown({ decoded: { daybook_notes: notes, ...request } }: { decoded: Decoded }) {
  return (
    <div class="decoded">
      {notes?.warnings?.map(({ code, message }) => (
        <p key={code} class="note warning">
          <strong>Before you sign: </strong>
          {message} (<code>{code}</code>)
        </p>
      ))}
      {notes && <Facts rows={[...noteRows(notes), ...argumentRows(request.payload, notes)]} />}
      <CodeBlock style="json" label="Decoded request">
        {formatJson(request, 2)}
      </CodeBlock>
    </div>
  );
}

function noteRows(notes: Notes): FactRow[] {
  const { max_fee_octas, encodes_back } = notes;
  return [
    ['Signed by', notes.signing_scheme?.replaceAll('_', ' ')],
    ['Gas paid by', notes.fee_payer_address],
    ['Most that gas can cost', max_fee_octas && `${groupDigits(max_fee_octas)} octas`],
    ['Replay protection', notes.replay_protection?.replaceAll('_', ' ')],
    ['Expires', notes.expires_at],
    [
      'Encodes back to these bytes',
      encodes_back === undefined ? undefined : encodes_back ? 'yes' : 'no',
    ],
  ];
}

/** The call's arguments with the types of their parameters; empty if the node does not know the types. */
function argumentRows(payload: Payload, { parameter_types: types = [] }: Notes): FactRow[] {
  const inner = payload['transaction_payload'];
  const values = (isObject(inner) ? (inner as Payload) : payload).arguments ?? [];
  if (types.length !== values.length) return [];
  return values.map((value, at) => [
    `Argument ${at + 1}: ${types[at]}`,
    <code key={at}>
      <JsonField value={value} />
    </code>,
  ]);
}
