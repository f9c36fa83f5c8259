/** Whether there is anything at an address: the node answers sequence number 0 for accounts that nobody ever used. */
import type { JsonValue } from '../../src/move/json/json-text.ts';
import { useAnswer } from './ask.ts';
import { NATIVE_COIN } from './assets.ts';
import { isList, textField } from './json-fields.ts';
import { balanceRequest, listingRequest, summariesRequest } from './ledger-requests.ts';
import { counted } from './number-text.ts';

/** Resources asked for at once. */
export const RESOURCES_PAGE_SIZE = 100;

export interface AccountFacts {
  readonly failure?: unknown;
  /** Undefined until the node has answered. */
  readonly isAccount?: boolean;
  readonly isObject?: boolean;
  readonly text: string;
}

const OBJECT_CORE = '0x1::object::ObjectCore';

function hasItems(json: JsonValue | undefined): boolean {
  return isList(json) && json.length > 0;
}

/** Asks for resources, modules, transactions and the balance, each one page at most. */
export function useAccountFacts(address: string, version: string | undefined): AccountFacts {
  const page = { limit: RESOURCES_PAGE_SIZE, version };
  const resources = useAnswer(listingRequest(address, 'resources', page));
  const modules = useAnswer(listingRequest(address, 'modules', { limit: 1, version }));
  const sent = useAnswer(summariesRequest(address, 1, version));
  const balance = useAnswer(balanceRequest(address, NATIVE_COIN, version));
  const asked = [resources, modules, sent, balance];
  const failure = asked.find((one) => one.failure !== undefined)?.failure;
  if (failure !== undefined) return { failure, text: '' };
  if (asked.some(({ json }) => json === undefined)) return { text: '' };
  const list = isList(resources.json) ? resources.json : [];
  const isObject = list.some((resource) => textField(resource, 'type') === OBJECT_CORE);
  const isFunded = balance.answer?.text.trim() !== '0';
  const isAccount =
    hasItems(modules.json) ||
    hasItems(sent.json) ||
    (isFunded && !isObject) ||
    (list.length > 0 && !isObject) ||
    list.some((resource) => textField(resource, 'type') === '0x1::account::Account');
  return { isObject, isAccount, text: `${counted(list.length, 'resource')}` };
}
