/** The natives by which code asks that modules be published, when the transaction is over (docs/spec/vm.md §8.7). */
import type { Address } from '../../move/types/address.ts';
import { type Native, NativeAbort } from '../native.ts';
import type { Value } from '../value.ts';
import { bytesInside, bytesOf, partsOf, textOf } from './arguments.ts';

const ALREADY_REQUESTED = 0x3_0000;

export interface PublishRequest {
  readonly destination: Address;
  readonly bundle: readonly Uint8Array[];
  readonly expected: ReadonlySet<string>;
  /**
   * Names of the modules that they may name, by address; the empty name stands for all of an address. Absent: any
   * module.
   */
  readonly allowed: ReadonlyMap<Address, ReadonlySet<string>> | undefined;
}

export class Publishing {
  request: PublishRequest | undefined;
}

function requestOf(args: readonly Value[]): PublishRequest {
  const expected = partsOf(args[1]).map(textInside);
  const bundle = partsOf(args.at(-2)).map(bytesOf);
  const destination = args[0] as Address;
  const request = { destination, bundle, expected: new Set(expected) };
  if (args.length < 5) return { ...request, allowed: undefined };
  const allowed = new Map<Address, Set<string>>();
  const allow = (address: Address, names: Iterable<string>) =>
    allowed.set(address, new Set([...(allowed.get(address) ?? []), ...names]));
  for (const dependency of partsOf(args[2])) {
    const [address, name] = partsOf(dependency);
    allow(address as Address, [textInside(name)]);
  }
  allow(destination, expected);
  return { ...request, allowed };
}

function textInside(text: Value): string {
  return textOf(bytesInside(text));
}

const ADDRESS_BYTES = 32;

/** Bytes that a request is charged for. */
export function requestBytes(args: readonly Value[]): number {
  const { bundle } = requestOf(args);
  let bytes = bundle.reduce((sum, { length }) => sum + length, 0);
  for (const name of partsOf(args[1])) bytes += bytesInside(name).length;
  if (args.length < 5) return bytes;
  const accounts = new Set<Value>();
  for (const dependency of partsOf(args[2])) {
    const [address, name] = partsOf(dependency);
    accounts.add(address);
    bytes += bytesInside(name).length;
  }
  return bytes + accounts.size * ADDRESS_BYTES;
}

const requestPublish: Native = ({ extensions }, args) => {
  const publishing = extensions.of(Publishing);
  if (publishing.request !== undefined) throw new NativeAbort(ALREADY_REQUESTED);
  publishing.request = requestOf(args);
  return [];
};

export const PUBLISHING_NATIVES: Readonly<Record<string, Native>> = {
  'code::request_publish': requestPublish,
  'code::request_publish_with_allowed_deps': requestPublish,
};
