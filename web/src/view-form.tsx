/** A form that calls a view function. */
import { useState } from 'preact/hooks';
import { JsonNumber, type JsonValue } from '../../src/move/json/json-text.ts';
import { useAnswer } from './ask.ts';
import { argumentValue, placeholderValue, substituteTypes } from './encode-request.ts';
import { formatJson } from './json-fields.ts';
import { viewRequest } from './ledger-requests.ts';
import { type AbiFunction, argumentTypes } from './move-abi.ts';
import { Failure, QueryForm, TextField, Waiting } from './parts.tsx';
import { RequestPanel } from './request-panel.tsx';

interface ViewFormProps {
  /** Address, module and name. */
  readonly name: string;
  readonly declared: AbiFunction;
  readonly version: string | undefined;
}

/** Fields for type arguments and arguments; the answer, one value per result. */
export function ViewForm({ name, declared, version }: ViewFormProps) {
  const [body, setBody] = useState<string>();
  const types = argumentTypes(declared);
  const call = (fields: Record<string, string>): void => {
    const typeArguments = declared.typeParameters.map((_, at) => fields[`type-${at}`] ?? '');
    const values = types.map((type, at) =>
      argumentValue(fields[`argument-${at}`] ?? '', substituteTypes(type, typeArguments)),
    );
    const request = new Map<string, JsonValue>([
      ['function', name],
      ['type_arguments', typeArguments],
      ['arguments', values],
    ]);
    setBody(formatJson(request));
  };
  return (
    <details class="call">
      <summary>Call this view function</summary>
      <QueryForm label={`Call ${declared.name}`} submit="Call" onSubmit={call}>
        {declared.typeParameters.map((_, at) => (
          <TextField key={at} label={`Type argument T${at}`} name={`type-${at}`} required wide />
        ))}
        {types.map((type, at) => (
          <TextField
            key={at}
            label={`Argument ${at + 1}: ${type}`}
            name={`argument-${at}`}
            placeholder={placeholderText(type)}
            wide
          />
        ))}
      </QueryForm>
      {body !== undefined && <Result {...{ body, version }} results={declared.results} />}
    </details>
  );
}

function placeholderText(type: string): string {
  const value = placeholderValue(type);
  return typeof value === 'string' ? value : formatJson(value);
}

interface ResultProps {
  readonly body: string;
  readonly version: string | undefined;
  readonly results: readonly string[];
}

function Result({ body, version, results }: ResultProps) {
  const asked = useAnswer(viewRequest(body, version));
  const values = Array.isArray(asked.json) ? (asked.json as readonly JsonValue[]) : [];
  return (
    <>
      {asked.failure !== undefined && (
        <Failure title="The call was refused" error={asked.failure} />
      )}
      {asked.json === undefined && asked.failure === undefined && <Waiting />}
      {asked.json !== undefined && (
        <ol class="results" aria-live="polite">
          {values.map((value, at) => (
            <li key={at}>
              <code class="t-type">{results[at]}</code> <output>{resultText(value)}</output>
            </li>
          ))}
        </ol>
      )}
      <RequestPanel asked={asked} title="Request of the call" />
    </>
  );
}

function resultText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'string' ? value : formatJson(value, 2);
}
