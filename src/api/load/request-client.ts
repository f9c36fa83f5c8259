/** Identifies the client of a request by the network address that it came from. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The leading groups of an IPv6 address that belong to one customer of a network: 64 bits. */
const IPV6_NETWORK_GROUPS = 4;
const IPV6_GROUPS = 8;
const MAPPED_IPV4 = '::ffff:';
/** The address of one element of `Forwarded` (RFC 7239 §4, §6): IPv4 or IPv6 in brackets, perhaps with a port. */
const FORWARDED_FOR =
  /(?:^|;)\s*for=(?:"?([\d.]+)(?::\d+)?|"\[([\da-f:.]+)\](?::\d+)?)"?\s*(?:;|$)/i;

/** Maximum chained proxies that are resolved: a header has room for thousands of them. */
export const MAX_PROXIES = 16;

/** Whether a request can no longer be answered: its connection is closed, or our sending half is. */
export function hasDisconnected({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
  return socket.destroyed || socket.writableEnded;
}

export class Clients {
  readonly #proxies = new BlockList();
  readonly #hasProxies: boolean;

  /**
   * @param trustedProxies addresses and networks, separated by commas: their header `Forwarded` is believed
   * @throws TypeError for any other text
   */
  constructor(trustedProxies: string) {
    const listed = trustedProxies.split(',').map((text) => text.trim());
    this.#hasProxies = trustedProxies.trim() !== '';
    if (!this.#hasProxies) return;
    for (const text of listed) addNetwork(this.#proxies, text);
  }

  /** An IPv4 address, or the first half of an IPv6 address; empty for a closed connection. */
  of(request: IncomingMessage): string {
    let address = plain(request.socket.remoteAddress ?? '');
    if (!this.#hasProxies) return networkOf(address);
    let rest = request.headers.forwarded ?? '';
    // Each proxy appends an element, so the last is the nearest proxy's. The elements before it come from its client.
    for (let behind = 0; behind < MAX_PROXIES; behind += 1) {
      if (rest === '' || !this.#isProxy(address)) break;
      const comma = rest.lastIndexOf(',');
      const found = FORWARDED_FOR.exec(rest.slice(comma + 1));
      const named = plain(found?.[1] ?? found?.[2] ?? '');
      if (isIP(named) === 0) break;
      address = named;
      rest = rest.slice(0, Math.max(comma, 0));
    }
    return networkOf(address);
  }

  #isProxy(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#proxies.check(address, version === 4 ? 'ipv4' : 'ipv6');
  }
}

function addNetwork(list: BlockList, text: string): void {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  const maxBits = version === 4 ? 32 : 128;
  const prefix = Number(bits ?? maxBits);
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && prefix <= maxBits);
  if (version === 0 || !isPrefix || more.length > 0) {
    throw new TypeError(
      `trusted_proxies: neither an address nor a network: ${JSON.stringify(text)}`,
    );
  }
  list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
}

/** A dual-stack socket shows an IPv4 client with an IPv6 address. */
function plain(address: string): string {
  return address.startsWith(MAPPED_IPV4) && address.includes('.')
    ? address.slice(MAPPED_IPV4.length)
    : address;
}

function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [first = '', rest] = address.toLowerCase().split('::', 2);
  const groups = first === '' ? [] : first.split(':');
  if (rest !== undefined) {
    const last = rest === '' ? [] : rest.split(':');
    while (groups.length + last.length < IPV6_GROUPS) groups.push('0');
    groups.push(...last);
  }
  const network = groups.slice(0, IPV6_NETWORK_GROUPS);
  return network.map((group) => group.replace(/^0+(?=.)/, '')).join(':');
}
