/** Whether there is anything at an address: the node answers sequence number 0 for accounts that nobody ever used. */
import type { Resource } from './answers.ts';
import { useAnswer } from './ask.tsx';
import { counted } from './number-text.ts';
import { balanceRequest, listingRequest, NATIVE_COIN, summariesRequest } from './requests.ts';

/** Resources asked for at once. */
export const RESOURCES_PAGE_SIZE = 100;
export const OBJECT_CORE = '0x1::object::ObjectCore';

export interface AccountFacts {
  readonly failure?: unknown;
  /** Undefined until the node has answered. */
  readonly isAccount?: boolean;
  readonly isObject?: boolean;
  readonly text: string;
}

/** Asks for resources, modules, transactions and the balance, each one page at most. */
export function useAccountFacts(address: string): AccountFacts {
  const resources = useAnswer<readonly Resource[]>(
    listingRequest(address, 'resources', { limit: RESOURCES_PAGE_SIZE }),
  );
  const modules = useAnswer<readonly unknown[]>(listingRequest(address, 'modules', { limit: 1 }));
  const sent = useAnswer<readonly unknown[]>(summariesRequest(address, 1));
  const balance = useAnswer(balanceRequest(address, NATIVE_COIN));
  const asked = [resources, modules, sent, balance];
  const failure = asked.find((one) => one.failure !== undefined)?.failure;
  if (failure !== undefined) return { failure, text: '' };
  if (asked.some(({ json }) => json === undefined)) return { text: '' };
  const list = resources.json!;
  const isObject = list.some(({ type }) => type === OBJECT_CORE);
  const isFunded = balance.answer?.text.trim() !== '0';
  const isAccount =
    modules.json!.length > 0 ||
    sent.json!.length > 0 ||
    ((isFunded || list.length > 0) && !isObject) ||
    list.some(({ type }) => type === '0x1::account::Account');
  return { isObject, isAccount, text: counted(list.length, 'resource') };
}
