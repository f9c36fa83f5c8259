/** A form that calls a view function. */
import { useState } from 'preact/hooks';
import { type AbiFunction, argumentTypes } from '../asking/answers.ts';
import { Answered, useAnswer } from '../asking/ask.tsx';
import { formatJson, type Json } from '../asking/exact-json.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { viewRequest } from '../asking/requests.ts';
import {
  argumentText,
  argumentValue,
  placeholderValue,
  substituteTypes,
} from '../encoding/encode-request.ts';
import { QueryForm, TextField } from '../parts/parts.tsx';
import { JsonField } from './move-text.tsx';
import { argumentNames } from './parameter-names.ts';

interface CallFieldsProps {
  readonly declared: AbiFunction;
  /** Names of all parameters, if the source has them. */
  readonly parameters?: readonly string[];
}

/** Fields for the type arguments and arguments of a function. */
export function CallFields({ declared, parameters = [] }: CallFieldsProps) {
  const names = argumentNames(declared.params, parameters);
  return (
    <>
      {declared.generic_type_params.map((_, at) => (
        <TextField key={at} label={`Type argument T${at}`} name={`type-${at}`} required wide />
      ))}
      {argumentTypes(declared.params).map((type, at) => (
        <TextField
          key={at}
          label={`Argument ${at + 1}${names[at] ? ` ${names[at]}` : ''}: ${type}`}
          name={`argument-${at}`}
          placeholder={argumentText(placeholderValue(type), type)}
          wide
        />
      ))}
    </>
  );
}

/** The call in the fields. `name` is the full one. */
export function readCall(name: string, declared: AbiFunction, fields: Record<string, string>) {
  const typeArguments = declared.generic_type_params.map((_, at) => fields[`type-${at}`] ?? '');
  const values = argumentTypes(declared.params).map((type, at) =>
    argumentValue(fields[`argument-${at}`] ?? '', substituteTypes(type, typeArguments)),
  );
  return { function: name, type_arguments: typeArguments, arguments: values };
}

/** A form for a view function, and its results, one value each. `name` is the full one. */
export function ViewForm({ name, declared, parameters }: CallFieldsProps & { name: string }) {
  const [body, setBody] = useState<string>();
  return (
    <details class="call">
      <summary>Call this view function</summary>
      <QueryForm
        label={`Call ${declared.name}`}
        submit="Call"
        onSubmit={(fields) => setBody(formatJson(readCall(name, declared, fields)))}
      >
        <CallFields declared={declared} {...(parameters && { parameters })} />
      </QueryForm>
      {body !== undefined && <Result body={body} results={declared.return} />}
    </details>
  );
}

function Result({ body, results }: { body: string; results: readonly string[] }) {
  const asked = useAnswer<readonly Json[]>(viewRequest(body));
  return (
    <>
      <Answered asked={asked} title="The call was refused">
        {(values) => (
          <ol class="results" aria-live="polite">
            {values.map((value, at) => (
              <li key={at}>
                <code class="t-type">{results[at]}</code>{' '}
                <output>
                  <JsonField value={value} />
                </output>
              </li>
            ))}
          </ol>
        )}
      </Answered>
      <RequestPanel asked={asked} title="Request of the call" />
    </>
  );
}
