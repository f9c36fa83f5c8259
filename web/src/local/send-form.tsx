/** Calls an entry function, signed with the key of an account of the local network. */
import { useState } from 'preact/hooks';
import type { AbiFunction, ModuleAnswer, Transaction } from '../asking/answers.ts';
import { useAnswer } from '../asking/ask.tsx';
import { formatJson } from '../asking/exact-json.ts';
import {
  accountRequest,
  encodeRequest,
  moduleRequest,
  submitRequest,
  waitRequest,
} from '../asking/requests.ts';
import { splitFunctionName } from '../encoding/encode-request.ts';
import { CallFields, readCall } from '../modules/view-form.tsx';
import { shortHex } from '../parts/number-text.ts';
import { QueryForm, Section, TextField } from '../parts/parts.tsx';
import { linkTo } from '../route.ts';
import { ask, control, useAction } from './actions.tsx';

const MAX_GAS_AMOUNT = '200000';
const GAS_UNIT_PRICE = '100';
const VALID_SECS = 600;
const FIRST_FUNCTION = '0x1::aptos_account::transfer';

interface Sent {
  readonly hash: string;
  readonly text: string;
}

export function SendForm({ accounts }: { accounts: readonly string[] }) {
  const [name, setName] = useState(FIRST_FUNCTION);
  const [sent, setSent] = useState<Sent>();
  const { act, isBusy, outcome } = useAction();
  const split = splitFunctionName(name.trim());
  const { json } = useAnswer<ModuleAnswer>(split && moduleRequest(split.address, split.module));
  const declared = json?.abi?.exposed_functions.find(
    (one) => one.name === split?.name && one.is_entry,
  );
  const submit = (fields: Record<string, string>): void => {
    if (declared === undefined || isBusy) return;
    setSent(undefined);
    void act(async (signal) => {
      const call = readCall(name.trim(), declared, fields);
      const found = await sendSigned(fields['sender'] ?? '', call, signal);
      setSent(found);
      return found.text;
    });
  };
  return (
    <Section title="Call an entry function">
      <QueryForm label="Call an entry function" submit="Sign and send" onSubmit={submit}>
        <label class="field wide">
          Account that signs
          <select name="sender">
            {accounts.map((address) => (
              <option key={address} value={address}>
                {shortHex(address)}
              </option>
            ))}
          </select>
        </label>
        <TextField label="Function" name="function" value={name} required wide onInput={setName} />
        <Arguments name={name} declared={declared} />
      </QueryForm>
      {outcome}
      {sent && (
        <p>
          <a href={linkTo('transaction', { id: sent.hash })}>Transaction {shortHex(sent.hash)}</a>
        </p>
      )}
    </Section>
  );
}

function Arguments({ name, declared }: { name: string; declared: AbiFunction | undefined }) {
  if (declared !== undefined) return <CallFields key={name} declared={declared} />;
  return <p class="hint">There is no entry function of this name.</p>;
}

type Call = ReturnType<typeof readCall>;

/** Encodes, signs and submits a transaction, and waits for it. @throws ApiFailure */
async function sendSigned(sender: string, call: Call, signal: AbortSignal): Promise<Sent> {
  const { sequence_number } = await ask<{ sequence_number: string }>(
    accountRequest(sender),
    signal,
  );
  const { ledger_timestamp } = await ask<{ ledger_timestamp: string }>(
    { method: 'GET', path: '/v1' },
    signal,
  );
  const now = BigInt(ledger_timestamp) / 1_000_000n;
  const wall = BigInt(Math.floor(Date.now() / 1000));
  const expires = (now > wall ? now : wall) + BigInt(VALID_SECS);
  const request = {
    ...{ sender, sequence_number, max_gas_amount: MAX_GAS_AMOUNT, gas_unit_price: GAS_UNIT_PRICE },
    expiration_timestamp_secs: String(expires),
    payload: { type: 'entry_function_payload', ...call },
  };
  const message = await ask<string>(encodeRequest(formatJson(request)), signal);
  const signed = await control<{ public_key: string; signature: string }>(
    'sign',
    { account: sender, message },
    signal,
  );
  const signature = { type: 'ed25519_signature', ...signed };
  const { hash } = await ask<{ hash: string }>(
    submitRequest(formatJson({ ...request, signature })),
    signal,
  );
  const { success, version, vm_status } = await ask<Transaction>(waitRequest(hash), signal);
  // If blocks are only produced on request, the transaction waits for one.
  if (version === undefined) return { hash, text: 'It waits for a block.' };
  return { hash, text: success === true ? 'It was executed.' : `It failed: ${vm_status}` };
}
