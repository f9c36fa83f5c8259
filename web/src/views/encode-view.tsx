/** Encode: turns a request into its signing message, shown part by part with the meaning. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { RequestPanel } from '../asking/request-panel.tsx';
import { encodeRequest } from '../asking/requests.ts';
import { BytesPanel } from '../encoding/bytes-panel.tsx';
import { EncodeEditor } from '../encoding/encode-editor.tsx';
import { ENCODE_EXAMPLES, exampleText } from '../encoding/encode-request.ts';
import { readHexText } from '../encoding/signing-message.ts';
import { go } from '../navigation.ts';
import { Failure, QueryForm, TextArea } from '../parts/parts.tsx';
import { linkTo, parameter } from '../route.ts';

/** Longer requests are not put into the address bar. */
const MAX_LINKED_CHARACTERS = 16_384;

/** The reader's task: encode a request, or decode bytes. */
interface Task {
  readonly kind: 'request' | 'hex';
  readonly text: string;
}

export function EncodeView() {
  const [request, hex, example] = ['request', 'hex', 'example'].map(parameter) as [
    string,
    string,
    string,
  ];
  const [text, setText] = useState(() => request || exampleJson(example));
  const [hexText, setHexText] = useState(hex);
  /** A task that is too long for the address bar. */
  const [long, setLong] = useState<Task>();
  useEffect(() => {
    setLong(undefined);
    if (request !== '') setText(request);
    else if (example !== '') setText(exampleJson(example));
    if (hex !== '') setHexText(hex);
  }, [request, example, hex]);
  const begin = (kind: Task['kind'], given: string): void => {
    if (given.length > MAX_LINKED_CHARACTERS) setLong({ kind, text: given });
    else go(linkTo('encode', { [kind]: given }));
  };
  const task = long ?? { kind: request === '' ? 'hex' : 'request', text: request || hex };
  return (
    <>
      <QueryForm label="Request to encode" submit="Encode" onSubmit={() => begin('request', text)}>
        <EncodeEditor text={text} onText={setText} called={parameter('function')} />
      </QueryForm>
      <details class="reader" open={hex !== ''}>
        <summary>Have bytes already? Read them</summary>
        <QueryForm
          label="Bytes to read"
          submit="Read bytes"
          onSubmit={() => begin('hex', hexText.trim())}
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
      {task.text !== '' && task.kind === 'request' && <Encoded key={task.text} body={task.text} />}
      {task.text !== '' && task.kind === 'hex' && <Bytes key={task.text} hex={task.text} />}
    </>
  );
}

function exampleJson(name: string): string {
  const example = ENCODE_EXAMPLES.find((one) => one.name === name) ?? ENCODE_EXAMPLES[0]!;
  return exampleText(example, Date.now());
}

function Encoded({ body }: { body: string }) {
  const asked = useAnswer<string>(encodeRequest(body));
  return (
    <>
      <Answered asked={asked} title="The request was refused">
        {(hex) => <Bytes hex={String(hex)} />}
      </Answered>
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
  return read.message === undefined ? (
    <Failure title="These are no bytes in hex" error={read.error} />
  ) : (
    <BytesPanel message={read.message} />
  );
}
