/** The call of a transaction with its arguments, and its signers. */
import {
  argumentTypes,
  type ModuleAnswer,
  type Payload,
  type Signature,
} from '../asking/answers.ts';
import { useAnswer } from '../asking/ask.tsx';
import { isObject } from '../asking/exact-json.ts';
import { moduleRequest } from '../asking/requests.ts';
import { splitFunctionName } from '../encoding/encode-request.ts';
import { useSource } from '../modules/move-source.ts';
import { JsonView, TypedValue, TypeText } from '../modules/move-text.tsx';
import { argumentNames, parameterNames } from '../modules/parameter-names.ts';
import { AccountId, DeclaredName } from '../parts/ids.tsx';
import { type FactRow, Facts, Section } from '../parts/parts.tsx';

function account(hex: string | undefined) {
  return hex && <AccountId hex={hex} full />;
}

export function PayloadPart({ payload }: { payload: Payload }) {
  const { type, function: called, multisig_address, type_arguments = [] } = payload;
  const inner = payload['transaction_payload'];
  const { types, names } = useArguments(payload);
  if (type === 'write_set_payload') return null;
  return (
    <Section title={`Payload: ${type.replace('_payload', '').replaceAll('_', ' ')}`}>
      <Facts
        rows={[
          ['Multisig account', account(multisig_address)],
          ['Function', called && <DeclaredName name={called} />],
          ...type_arguments.map(
            (one, at): FactRow => [
              `Type argument T${at}`,
              <code key={at}>
                <TypeText type={one} />
              </code>,
            ],
          ),
          ...(payload.arguments ?? []).map(
            (value, at): FactRow => [
              `Argument ${at + 1}${names[at] ? ` ${names[at]}` : ''}${types[at] ? `: ${types[at]}` : ''}`,
              <TypedValue key={at} value={value} type={types[at]} />,
            ],
          ),
        ]}
      />
      {isObject(inner) && <PayloadPart payload={inner as Payload} />}
      {called === undefined && multisig_address === undefined && (
        <details>
          <summary>As JSON</summary>
          <JsonView value={payload} />
        </details>
      )}
    </Section>
  );
}

/** Types and names of the arguments of the called function, or of the script. */
function useArguments({ function: called = '', code }: Payload) {
  const name = splitFunctionName(called);
  const { json } = useAnswer<ModuleAnswer>(name && moduleRequest(name.address, name.module));
  const declared = json?.abi?.exposed_functions.find((one) => one.name === name?.name);
  const script = isObject(code) && isObject(code['abi']) ? code['abi']['params'] : undefined;
  const source = useSource(name?.address ?? '', name?.module ?? '');
  const params = declared?.params ?? (script as string[] | undefined) ?? [];
  const all = source?.text === undefined ? [] : parameterNames(source.text, name?.name ?? '');
  return { types: argumentTypes(params), names: argumentNames(params, all) };
}

export function SignaturePart({ signature }: { signature: Signature }) {
  return (
    <Section title="Signature">
      <Facts
        rows={[
          ['Scheme', signature.type.replaceAll('_', ' ')],
          ['Fee payer', account(signature.fee_payer_address)],
          ...(signature.secondary_signer_addresses ?? []).map(
            (address): FactRow => ['Secondary signer', account(address)],
          ),
        ]}
      />
      <details>
        <summary>Keys and signatures</summary>
        <JsonView value={signature} />
      </details>
    </Section>
  );
}
