/**
 * Whether an address has an account or object: the node answers sequence number 0 for accounts that were never used.
 */
import type { Resource } from '../asking/answers.ts';
import { useAnswer } from '../asking/ask.tsx';
import {
  balanceRequest,
  listingRequest,
  NATIVE_COIN,
  summariesRequest,
} from '../asking/requests.ts';
import { counted } from '../parts/number-text.ts';
import { textAt } from '../transactions/movements.ts';

/** Resources per request. */
export const RESOURCES_PAGE_SIZE = 100;
export const OBJECT_CORE = '0x1::object::ObjectCore';

const KINDS = {
  '0x1::fungible_asset::Metadata': 'asset',
  '0x4::collection::Collection': 'collection',
  '0x4::token::Token': 'token',
} as const;
export type ObjectKind = (typeof KINDS)[keyof typeof KINDS];

export interface AccountFacts {
  readonly failure?: unknown;
  /** Undefined until the node has answered. */
  readonly isAccount?: boolean;
  readonly isObject?: boolean;
  /** The kind of an object that has a page of its own. */
  readonly kind?: ObjectKind | undefined;
  /** Owner of an object. */
  readonly owner?: string | undefined;
  readonly text: string;
}

/** Requests resources, modules, transactions and the balance, each one page at most. */
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
  const core = list.find(({ type }) => type === OBJECT_CORE);
  const isObject = core !== undefined;
  const kindOf = list.find(({ type }) => Object.hasOwn(KINDS, type))?.type;
  const isFunded = balance.answer?.text.trim() !== '0';
  const isAccount =
    modules.json!.length > 0 ||
    sent.json!.length > 0 ||
    ((isFunded || list.length > 0) && !isObject) ||
    list.some(({ type }) => type === '0x1::account::Account');
  const kind = kindOf === undefined ? undefined : KINDS[kindOf as keyof typeof KINDS];
  const owner = textAt(core?.data, 'owner');
  return { isObject, isAccount, kind, owner, text: counted(list.length, 'resource') };
}
