/** A signing message: its hex, its labelled parts, and its meaning according to the node. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { formatHex } from '../../src/move/bcs/hex.ts';
import type { JsonValue } from '../../src/move/json/json-text.ts';
import { ApiFailure } from './api-client.ts';
import { useAnswer } from './ask.ts';
import { field, formatJson, isList, listField, textField } from './json-fields.ts';
import { decodeRequest } from './ledger-requests.ts';
import { counted, groupDigits } from './number-text.ts';
import { announce, CodeBlock, CopyButton, Fact, Failure, Waiting } from './parts.tsx';
import { RequestPanel } from './request-panel.tsx';
import { divideSigningMessage, hexDigits } from './signing-message.ts';

/** Shows the message and asks the node for its meaning. */
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
        <table class="parts cards">
          <caption class="visually-hidden">Parts of the signing message</caption>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Bytes</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      </section>
      <Meaning hex={formatHex(message)} />
    </div>
  );
}

function Meaning({ hex }: { hex: string }) {
  const asked = useAnswer(decodeRequest(hex));
  const { json, failure } = asked;
  return (
    <section aria-label="Meaning">
      <h2>Meaning, as the node reads the bytes</h2>
      {json === undefined && failure === undefined && <Waiting />}
      {failure !== undefined && <NoMeaning failure={failure} />}
      {json !== undefined && <Decoded decoded={json} />}
      <RequestPanel asked={asked} title="Request for the meaning" />
    </section>
  );
}

function NoMeaning({ failure }: { failure: unknown }) {
  const isOffered = !(
    failure instanceof ApiFailure &&
    failure.status === 404 &&
    failure.code === 'web_framework_error'
  );
  if (isOffered) return <Failure title="The node could not decode these bytes" error={failure} />;
  return (
    <p class="note">
      This node does not offer decoding (
      <code>{`${failure.status} ${failure.code}: ${failure.message}`}</code>). The parts above come
      from the bytes alone.
    </p>
  );
}

/** Where this node puts what is not part of the request. */
const NOTES_FIELD = 'daybook_notes';

/** Warnings first, then the facts, the arguments with their types, and the request as JSON (src/ledger/decode). */
function Decoded({ decoded }: { decoded: JsonValue }) {
  const notes = field(decoded, NOTES_FIELD);
  const request =
    decoded instanceof Map
      ? new Map([...decoded].filter(([name]) => name !== NOTES_FIELD))
      : decoded;
  const fee = textField(notes, 'max_fee_octas');
  const encodesBack = field(notes, 'encodes_back');
  return (
    <div class="decoded">
      {listField(notes, 'warnings').map((warning) => (
        <p key={formatJson(warning)} class="note warning">
          <strong>Before you sign: </strong>
          {textField(warning, 'message') ?? formatJson(warning)} (
          <code>{textField(warning, 'code') ?? ''}</code>)
        </p>
      ))}
      <dl class="facts">
        <Fact term="Signed by">{textField(notes, 'signing_scheme')?.replaceAll('_', ' ')}</Fact>
        <Fact term="Gas paid by">{textField(notes, 'fee_payer_address')}</Fact>
        <Fact term="Most that gas can cost">{fee && `${groupDigits(fee)} octas`}</Fact>
        <Fact term="Replay protection">
          {textField(notes, 'replay_protection')?.replaceAll('_', ' ')}
        </Fact>
        <Fact term="Expires">{textField(notes, 'expires_at')}</Fact>
        <Fact term="Encodes back to these bytes">
          {typeof encodesBack === 'boolean' ? (encodesBack ? 'yes' : 'no') : undefined}
        </Fact>
        <Arguments decoded={decoded} types={field(notes, 'parameter_types')} />
      </dl>
      <CodeBlock style="json" label="Decoded request">
        {formatJson(request, 2)}
      </CodeBlock>
    </div>
  );
}

/** The call's arguments with the types of their parameters; nothing where the node does not know them. */
function Arguments({ decoded, types }: { decoded: JsonValue; types: JsonValue | undefined }) {
  const payload = field(decoded, 'payload');
  const values = listField(field(payload, 'transaction_payload') ?? payload, 'arguments');
  if (!isList(types) || types.length !== values.length) return null;
  return (
    <>
      {values.map((value, at) => (
        <Fact key={at} term={`Argument ${at + 1}: ${String(types[at])}`}>
          <code>{typeof value === 'string' ? value : formatJson(value)}</code>
        </Fact>
      ))}
    </>
  );
}
