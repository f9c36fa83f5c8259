/**
 * Payloads in the form of a request (docs/spec/encode.md §A2, §A5); content that has no such form is shown as bytes.
 */
import { formatHex } from '../../move/bcs/hex.ts';
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type {
  Executable,
  ExtraConfig,
  TransactionLimitsRequest,
} from '../../move/transactions/executable.ts';
import { type EncryptedPayload, TransactionPayload } from '../../move/transactions/payload.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { isIdentifier } from '../../move/types/module-id.ts';
import { entryFunctionJson, scriptJson } from './executable.ts';
import { jsonObject, type Rendering, rawPayload } from './rendering.ts';

export interface PayloadJson {
  readonly payload: JsonObject;
  readonly nonce: bigint | undefined;
}

export async function payloadJson(
  payload: TransactionPayload,
  rendering: Rendering,
): Promise<PayloadJson> {
  const nonce = nonceOf(payload);
  const request = await requestForm(payload, rendering);
  if (request !== undefined) return { payload: request, nonce };
  const bytes = TransactionPayload.encode(payload);
  return { payload: rawPayload(bytes), nonce };
}

function nonceOf(payload: TransactionPayload): bigint | undefined {
  if (payload.kind === 'payload') return payload.extraConfig.replayProtectionNonce;
  if (payload.kind !== 'encrypted') return undefined;
  return payload.payload.content.extraConfig.replayProtectionNonce;
}

/** The payload object; undefined if a request cannot express it. */
async function requestForm(
  payload: TransactionPayload,
  rendering: Rendering,
): Promise<JsonObject | undefined> {
  switch (payload.kind) {
    case 'entryFunction':
    case 'script':
      return executableJson(payload, rendering);
    case 'multisig':
      return multisigJson(payload.multisigAddress, payload.payload, rendering);
    case 'moduleBundle':
      rendering.warn('module_bundle', 'publishing by a module bundle has been removed from chains');
      return jsonObject(['type', 'module_bundle_payload']);
    case 'payload':
      return configuredJson(payload.executable, payload.extraConfig, rendering);
    case 'encrypted':
      return encryptedJson(payload.payload, rendering);
  }
}

async function executableJson(
  executable: Executable,
  rendering: Rendering,
): Promise<JsonObject | undefined> {
  switch (executable.kind) {
    case 'script':
      return scriptJson(executable, rendering);
    case 'entryFunction': {
      const call = await entryFunctionJson(executable, rendering);
      if (call === undefined) {
        const text = 'the called module or function has a name that is no identifier';
        rendering.warn('bad_identifier', `${text}; the payload is shown as its bytes`);
      }
      return call;
    }
    default:
      rendering.warn('unusual_payload', 'the payload runs nothing and is shown as its bytes');
      return undefined;
  }
}

/** @param executable `empty` or absent: the payload is stored on the chain */
async function multisigJson(
  multisigAddress: Address,
  executable: Executable | undefined,
  rendering: Rendering,
): Promise<JsonObject | undefined> {
  const members: [string, JsonValue][] = [
    ['type', 'multisig_payload'],
    ['multisig_address', formatAddress(multisigAddress)],
  ];
  if (executable !== undefined && executable.kind !== 'empty') {
    const inner = await executableJson(executable, rendering);
    if (inner === undefined) return undefined;
    members.push(['transaction_payload', inner]);
  } else {
    const text =
      'what is run is stored on the chain under the multisig account, not in these bytes';
    rendering.warn('multisig_payload_on_chain', text);
  }
  return jsonObject(...members);
}

/** The form with extra configuration. The encoder produces it only for requests with a nonce. */
async function configuredJson(
  executable: Executable,
  config: ExtraConfig,
  rendering: Rendering,
): Promise<JsonObject | undefined> {
  warnOfConfig(config, rendering);
  if (config.replayProtectionNonce === undefined) {
    const text = 'the payload has the form of orderless transactions, but no nonce';
    rendering.warn('unusual_payload', text);
  }
  const { multisigAddress } = config;
  return multisigAddress === undefined
    ? executableJson(executable, rendering)
    : multisigJson(multisigAddress, executable, rendering);
}

function warnOfConfig(config: ExtraConfig, rendering: Rendering): void {
  if (config.kind !== 'v2') return;
  const text =
    config.limitsRequest === undefined
      ? 'the extra configuration is of version 2, which the request cannot say'
      : `the transaction asks for ${limitsText(config.limitsRequest)}, which the request cannot say`;
  rendering.warn('limits_request', text);
}

function limitsText(request: TransactionLimitsRequest): string {
  const { executionPercent, ioPercent } = request.multipliers;
  const role =
    request.kind === 'stakePoolOwner'
      ? 'the owner of a stake pool'
      : request.kind === 'delegatedVoter'
        ? `the delegated voter of stake pool ${formatAddress(request.poolAddress)}`
        : `a delegator of pool ${formatAddress(request.poolAddress)}`;
  return `${executionPercent} % of the execution limit and ${ioPercent} % of the io limit as ${role}`;
}

/** Members as in docs/spec/encode.md §A2; undefined if the payload must be shown as its bytes. */
function encryptedJson(payload: EncryptedPayload, rendering: Rendering): JsonObject | undefined {
  rendering.warn('encrypted', 'what the transaction does is encrypted and cannot be seen');
  const { content } = payload;
  warnOfConfig(content.extraConfig, rendering);
  if (payload.state !== 'encrypted') {
    const text = 'the payload is one that a node has tried to decrypt, and is shown as its bytes';
    rendering.warn('unusual_payload', text);
    return undefined;
  }
  const { multisigAddress } = content.extraConfig;
  if (multisigAddress !== undefined) {
    const text = `it acts for the multisig account ${formatAddress(multisigAddress)}`;
    rendering.warn('unusual_payload', `${text}, which the request cannot say`);
  }
  const { claimedEntryFunction: claimed } = content;
  const claimedNames = claimed && [claimed.module.name, claimed.function ?? 'none'];
  if (claimedNames?.every(isIdentifier) === false) {
    const text = 'the function it claims to call has a name that is no identifier';
    rendering.warn('bad_identifier', `${text}; the payload is shown as its bytes`);
    return undefined;
  }
  const members: [string, JsonValue][] = [
    ['type', 'encrypted_transaction_payload'],
    ['encrypted_state', 'encrypted'],
    ['payload_hash', formatHex(content.payloadHash)],
    ['ciphertext', formatHex(content.ciphertext)],
    ['encryption_epoch', String(content.encryptionEpoch)],
  ];
  if (claimed !== undefined) {
    const module = `${formatAddress(claimed.module.address)}::${claimed.module.name}`;
    const names: [string, JsonValue][] = [['module', module]];
    if (claimed.function !== undefined) names.push(['name', claimed.function]);
    members.push(['claimed_entry_fun', jsonObject(...names)]);
  }
  return jsonObject(...members);
}
