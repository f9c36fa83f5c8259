/** The editor of a request: a form for entry functions next to the JSON. The JSON is what is sent. */
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { JsonSyntaxError } from '../../../src/move/json/json-text.ts';
import { type AbiFunction, argumentTypes, type ModuleAnswer } from '../asking/answers.ts';
import { ApiFailure } from '../asking/api-client.ts';
import { useAnswer } from '../asking/ask.tsx';
import { formatJson, type Json, parseJson } from '../asking/exact-json.ts';
import { moduleRequest } from '../asking/requests.ts';
import { TextArea, TextField } from '../parts/parts.tsx';
import {
  argumentText,
  argumentValue,
  callSkeleton,
  ENCODE_EXAMPLES,
  type EncodeForm,
  exampleText,
  readForm,
  splitFunctionName,
  splitList,
  substituteTypes,
  TEXT_FIELDS,
  type TextFieldName,
  writeForm,
} from './encode-request.ts';

const LABELS: Readonly<Record<TextFieldName, string>> = {
  sender: 'Sender',
  sequence_number: 'Sequence number',
  max_gas_amount: 'Maximum gas amount',
  gas_unit_price: 'Gas unit price',
  expiration_timestamp_secs: 'Expires, seconds since 1970',
  replay_protection_nonce: 'Replay protection nonce',
};
const JSON_ROWS = 24;
const NO_FORM: EncodeForm = {
  texts: new Map(),
  secondarySigners: [],
  function: '',
  typeArguments: [],
  arguments: [],
};

interface EditorProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  /** The initially called function; empty for none. */
  readonly called: string;
}

function parse(text: string): Json | JsonSyntaxError {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
}

/** Form and JSON side by side; each follows changes of the other. */
export function EncodeEditor({ text, onText, called }: EditorProps) {
  const request = useMemo(() => parse(text), [text]);
  const isBroken = request instanceof JsonSyntaxError;
  const known = isBroken ? undefined : readForm(request);
  const form = known ?? NO_FORM;
  const change = (changes: Partial<EncodeForm>): void => {
    if (!isBroken) onText(formatJson(writeForm(request, { ...form, ...changes }), 2));
  };
  /** The function that the reader chose in the form; its arguments are still missing. */
  const chosen = useRef<string | undefined>(undefined);
  const choose = (name: string): void => {
    chosen.current = name;
    change({ function: name });
  };
  useEffect(() => {
    if (called !== '') choose(called);
  }, [called]);
  const { declared, note } = useDeclared(form.function);
  const types = argumentTypes(declared?.params ?? []).map((type) =>
    substituteTypes(type, form.typeArguments),
  );
  useEffect(() => {
    if (declared === undefined || chosen.current !== form.function) return;
    chosen.current = undefined;
    change(callSkeleton(declared));
  }, [declared, form.function]);
  return (
    <div class="editor">
      <Examples onText={onText} />
      <div class="columns">
        <div>
          {known === undefined && (
            <p class="note" role="status">
              {isBroken
                ? `The JSON is not complete: ${request.message}.`
                : 'The form covers entry functions; this request is edited as JSON.'}
            </p>
          )}
          <fieldset class="encode-form" disabled={known === undefined}>
            <legend>Entry function call</legend>
            <CallFields {...{ form, types, note, change, choose }} />
          </fieldset>
        </div>
        <TextArea
          label="Request as JSON, sent as it stands"
          name="request"
          rows={JSON_ROWS}
          value={text}
          onInput={onText}
        />
      </div>
    </div>
  );
}

interface CallFieldsProps {
  readonly form: EncodeForm;
  readonly types: readonly string[];
  readonly note: string;
  readonly change: (changes: Partial<EncodeForm>) => void;
  readonly choose: (name: string) => void;
}

function CallFields({ form, types, note, change, choose }: CallFieldsProps) {
  return (
    <>
      <TextField
        label="Function"
        name="function"
        value={form.function}
        onInput={(text) => choose(text.trim())}
        wide
      />
      <p class="hint">{note}</p>
      <TextField
        label="Type arguments"
        name="type_arguments"
        value={form.typeArguments.join(', ')}
        hint="Separated by commas."
        onInput={(text) => change({ typeArguments: splitList(text) })}
        wide
      />
      <div class="arguments">
        {form.arguments.map((value, at) => (
          <TextField
            key={at}
            label={`Argument ${at + 1}${types[at] === undefined ? '' : `: ${types[at]}`}`}
            name={`argument-${at + 1}`}
            value={argumentText(value, types[at])}
            onInput={(text) =>
              change({ arguments: form.arguments.with(at, argumentValue(text, types[at])) })
            }
            wide
          />
        ))}
      </div>
      {TEXT_FIELDS.map((name) => (
        <TextField
          key={name}
          label={LABELS[name]}
          name={name}
          value={form.texts.get(name) ?? ''}
          numeric={name !== 'sender'}
          wide={name === 'sender'}
          onInput={(text) => change({ texts: new Map(form.texts).set(name, text.trim()) })}
        />
      ))}
      <TextField
        label="Secondary signers"
        name="secondary_signers"
        value={form.secondarySigners.join(', ')}
        hint="Addresses, separated by commas."
        onInput={(text) => change({ secondarySigners: splitList(text) })}
        wide
      />
    </>
  );
}

function Examples({ onText }: { onText: (text: string) => void }) {
  const id = useId();
  const choose = (name: string): void => {
    const example = ENCODE_EXAMPLES.find((one) => one.name === name);
    if (example !== undefined) onText(exampleText(example, Date.now()));
  };
  return (
    <div class="field">
      <label for={id}>Start from an example</label>
      <select id={id} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">Choose…</option>
        {ENCODE_EXAMPLES.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The declaration of a function on the ledger, or a note why it is unknown. */
function useDeclared(name: string): { readonly declared?: AbiFunction; readonly note: string } {
  const parts = splitFunctionName(name);
  const { json, failure } = useAnswer<ModuleAnswer>(
    parts && moduleRequest(parts.address, parts.module),
  );
  if (parts === undefined) return { note: 'A function is named address::module::name.' };
  if (failure instanceof ApiFailure) return { note: `${failure.code}: ${failure.message}` };
  if (json === undefined) return { note: 'Asking the node…' };
  const declared = json.abi?.exposed_functions.find(
    (one) => one.name === parts.name && one.is_entry,
  );
  if (declared === undefined) return { note: `The module has no entry function “${parts.name}”.` };
  const parameters = argumentTypes(declared.params).join(', ') || 'no arguments';
  const generics = declared.generic_type_params.map((_, at) => `T${at}`).join(', ');
  return { declared, note: `Takes ${parameters}${generics && `; type parameters ${generics}`}.` };
}
