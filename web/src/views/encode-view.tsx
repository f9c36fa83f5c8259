/** Encode: a request in, the bytes to sign out, part by part and with their meaning. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../ask.ts';
import { BytesPanel } from '../bytes-panel.tsx';
import { EncodeEditor } from '../encode-editor.tsx';
import { ENCODE_EXAMPLES, exampleText } from '../encode-request.ts';
import { encodeRequest } from '../ledger-requests.ts';
import { go } from '../navigation.ts';
import { Failure, QueryForm, TextArea, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { routeHash } from '../route.ts';
import { readHexText } from '../signing-message.ts';
import type { ViewProps } from '../view.ts';

/** Longer requests do not go into the address bar. */
const MAX_LINKED_CHARACTERS = 16_384;

/** What the reader asked for: bytes for a request, or the meaning of bytes. */
type Task =
  | { readonly kind: 'encode'; readonly text: string }
  | { readonly kind: 'read'; readonly text: string };

export function EncodeView({ parameter }: ViewProps) {
  const [request, hex] = [parameter('request'), parameter('hex')];
  const example = parameter('example');
  const [text, setText] = useState(() => request || exampleJson(example));
  const [hexText, setHexText] = useState(hex);
  /** A task that is too long for the address bar. */
  const [long, setLong] = useState<Task>();
  const shown = useRef(text);
  useEffect(() => {
    setLong(undefined);
    if (request !== '') setText(request);
    else if (example !== '') setText(exampleJson(example));
    if (hex !== '') setHexText(hex);
  }, [request, example, hex]);
  shown.current = text;
  const task = long ?? linkedTask(request, hex);
  const begin = (next: Task): void => {
    if (next.text.length > MAX_LINKED_CHARACTERS) setLong(next);
    else go(routeHash('encode', { [next.kind === 'encode' ? 'request' : 'hex']: next.text }));
  };
  return (
    <>
      <QueryForm
        label="Request to encode"
        submit="Encode"
        onSubmit={() => begin({ kind: 'encode', text })}
      >
        <EncodeEditor text={text} onText={setText} called={parameter('function')} />
      </QueryForm>
      <details class="reader" open={hex !== ''}>
        <summary>Have bytes already? Read them</summary>
        <QueryForm
          label="Bytes to read"
          submit="Read bytes"
          onSubmit={() => begin({ kind: 'read', text: hexText.trim() })}
        >
          <TextArea
            label="Signing message in hex"
            name="hex"
            rows={4}
            value={hexText}
            onInput={setHexText}
          />
        </QueryForm>
      </details>
      {task?.kind === 'encode' && <Encoded key={task.text} body={task.text} />}
      {task?.kind === 'read' && <Bytes key={task.text} hex={task.text} />}
    </>
  );
}

function exampleJson(name: string): string {
  const example = ENCODE_EXAMPLES.find((one) => one.name === name) ?? ENCODE_EXAMPLES[0]!;
  return exampleText(example, Date.now());
}

function linkedTask(request: string, hex: string): Task | undefined {
  if (request !== '') return { kind: 'encode', text: request };
  return hex === '' ? undefined : { kind: 'read', text: hex };
}

function Encoded({ body }: { body: string }) {
  const asked = useAnswer(encodeRequest(body));
  const { json, failure } = asked;
  return (
    <>
      {json === undefined && failure === undefined && <Waiting />}
      {failure !== undefined && <Failure title="The request was refused" error={failure} />}
      {typeof json === 'string' && <Bytes hex={json} />}
      {json !== undefined && typeof json !== 'string' && (
        <Failure title="No bytes" error={new TypeError('The answer is no JSON string.')} />
      )}
      <RequestPanel asked={asked} />
    </>
  );
}

function Bytes({ hex }: { hex: string }) {
  const read = useMemo(() => {
    try {
      return { message: readHexText(hex) };
    } catch (error) {
      return { error };
    }
  }, [hex]);
  if (read.message === undefined) {
    return <Failure title="These are no bytes in hex" error={read.error} />;
  }
  return <BytesPanel message={read.message} />;
}
