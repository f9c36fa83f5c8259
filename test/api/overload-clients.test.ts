/** Clients of an overloaded process: each may have as much as all others leave. */
import { describe, expect, it } from 'vitest';
import { MAX_CLIENTS_IN_A_TURN } from '../../src/api/load/admission.ts';
import { Clients, MAX_PROXIES } from '../../src/api/load/request-client.ts';
import { from, MAX_MS, nextTurn, Process } from './loaded-process.ts';

/** The requests of each client in every turn, in this order. */
type Load = readonly (readonly [client: string, requests: number])[];

/** Runs turns of lasting overload. @returns how many requests of each client the last turn admitted */
async function letIn(load: Load, turns = 20): Promise<number[]> {
  const one = new Process();
  await one.overload('read');
  let admitted: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    admitted = load.map(([client, requests]) => {
      const asked = Array.from({ length: requests }, () => one.ask('read', 1, client));
      return asked.filter(Boolean).length;
    });
    await nextTurn();
  }
  return admitted;
}

describe('clients in lasting overload', () => {
  it.each<[string, Load, number[]]>([
    [
      'one with many requests before one with one',
      [
        ['a', 500],
        ['b', 1],
      ],
      [MAX_MS / 2, 1],
    ],
    [
      'one with many requests after one with one',
      [
        ['b', 1],
        ['a', 500],
      ],
      [1, MAX_MS / 2],
    ],
    [
      'two with as many',
      [
        ['a', 500],
        ['b', 500],
      ],
      [50, 25],
    ],
    ['one that is alone', [['a', 400]], [MAX_MS / 2]],
    [
      'some with less than there is left',
      [
        ['a', 10],
        ['b', 500],
        ['c', 10],
      ],
      [10, 45, 10],
    ],
  ])('%s', async (_, load, admitted) => {
    // Names of clients are addresses.
    const named = load.map(
      ([name, requests]) => [`10.0.0.${name.charCodeAt(0)}`, requests] as const,
    );
    expect(await letIn(named)).toEqual(admitted);
  });

  it('that come at once with one request each get the time of a turn', async () => {
    const one = new Process();
    await one.overload('read');
    const clients = Array.from({ length: 3 * MAX_MS }, (_, n) => `10.1.${n >> 8}.${n & 255}`);
    for (let turn = 0; turn < 3; turn += 1) {
      expect(clients.filter((client) => one.ask('read', 1, client))).toHaveLength(MAX_MS);
      await nextTurn();
    }
  });

  it('have time left when one request of another took long', async () => {
    const one = new Process();
    await one.overload('read');
    const light = (): boolean => one.ask('read', 1, '10.0.0.2');
    for (let turn = 0; turn < 5; turn += 1) {
      one.ask('read', turn === 3 ? 10 * MAX_MS : 1, '10.0.0.1');
      const heavy = Array.from({ length: 500 }, () => one.ask('read', 1, '10.0.0.1'));
      expect(light()).toBe(true);
      await nextTurn();
      expect(heavy.filter(Boolean)).toHaveLength(turn === 3 ? 0 : MAX_MS / 2 - 1);
    }
  });

  it.each([
    [MAX_CLIENTS_IN_A_TURN - 1, true],
    [MAX_CLIENTS_IN_A_TURN, true],
    [MAX_CLIENTS_IN_A_TURN + 1, false],
  ])(
    'are told apart up to a number: of %i, the last has time of its own: %s',
    async (count, has) => {
      const one = new Process();
      await one.overload('read');
      const last = `11.${count}`;
      const ask = (client: string, costMs: number) => one.ask('read', costMs, client);
      for (let n = 1; n < count - 1; n += 1) ask(`10.${n}`, MAX_MS / 1e6);
      ask('11.0', MAX_MS / 2);
      expect(ask(last, 0)).toBe(has);
      await nextTurn();
      expect(ask(last, 0)).toBe(true);
    },
  );

  it.each([
    ['10.0.0.9', undefined, '10.0.0.9'],
    ['::ffff:10.0.0.9', undefined, '10.0.0.9'],
    ['2001:db8:0:1::1', undefined, '2001:db8:0:1'],
    ['2001:db8:0:1:ffff:ffff:ffff:ffff', undefined, '2001:db8:0:1'],
    ['2001:db8::1', undefined, '2001:db8:0:0'],
    ['fe80::1%eth0', undefined, 'fe80:0:0:0'],
    ['::2', undefined, '0:0:0:0'],
    [undefined, undefined, ''],
    [undefined, 'for=192.0.2.1', ''],
    // Headers from a client that is not a trusted proxy are ignored.
    ['10.0.0.9', 'for=192.0.2.1', '10.0.0.9'],
    ['::2', 'for=192.0.2.1', '0:0:0:0'],
    ['10.0.0.1', 'for=192.0.2.1', '192.0.2.1'],
    ['::ffff:10.0.0.1', 'for=192.0.2.1', '192.0.2.1'],
    ['::1', 'for=192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', 'for=192.0.2.1;proto=https', '192.0.2.1'],
    ['10.0.0.1', 'proto=https; For=192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', 'for="192.0.2.1:443"', '192.0.2.1'],
    ['10.0.0.1', 'for=6.6.6.6, for=192.0.2.1:443', '192.0.2.1'],
    ['10.0.0.1', 'for=6.6.6.6, For="[2001:db8:1:2::3]:1"', '2001:db8:1:2'],
    ['10.0.0.1', 'for=6.6.6.6, For="[2001:0DB8:01:2::3]"', '2001:db8:1:2'],
    ['10.0.0.1', 'for="[::ffff:192.0.2.1]"', '192.0.2.1'],
    // One proxy behind another. Entries that the outer proxy's client has sent are ignored.
    ['10.0.0.1', 'for=6.6.6.6, for=192.0.2.1, for=10.1.2.3', '192.0.2.1'],
    ['10.0.0.1', 'for=10.1.2.3', '10.1.2.3'],
    ['10.0.0.1', 'for=10.1.2.3, for=10.1.2.4', '10.1.2.3'],
    // Without a valid address the client is the proxy.
    ['10.0.0.1', 'for=6.6.6.6, for=unknown', '10.0.0.1'],
    ['10.0.0.1', 'for=6.6.6.6, for=_hidden', '10.0.0.1'],
    ['10.0.0.1', 'for=6.6.6.6, for=999.1.1.1', '10.0.0.1'],
    ['10.0.0.1', 'for=6.6.6.6, proto=https', '10.0.0.1'],
    ['10.0.0.1', 'for=6.6.6.6, ', '10.0.0.1'],
    ['10.0.0.1', 'by=1.1.1.1;xfor=6.6.6.6', '10.0.0.1'],
    ['10.0.0.1', 'by="for=6.6.6.6;"', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
  ])('from %s with Forwarded %s: %s', (address, forwarded, client) => {
    const clients = new Clients('10.0.0.1, 10.1.0.0/16,::1');
    expect(clients.of(from(address, forwarded))).toBe(client);
    if (forwarded === undefined) expect(new Clients('').of(from(address))).toBe(client);
  });

  it.each([
    [MAX_PROXIES - 1, '192.0.2.1'],
    [MAX_PROXIES, '192.0.2.1'],
    [MAX_PROXIES + 1, '10.1.0.2'],
  ])('behind %i proxies: %s', (proxies, client) => {
    const clients = new Clients('10.1.0.0/16');
    // The nearest proxy is the connection's; each one names its own client.
    const named = Array.from({ length: proxies - 1 }, (_, n) => `for=10.1.0.${n + 2}`);
    const forwarded = ['for=192.0.2.1', ...named].join(', ');
    expect(clients.of(from('10.1.0.1', forwarded))).toBe(client);
  });

  it('are not looked for in a header where no proxy is trusted', () => {
    expect(new Clients('').of(from('10.0.0.1', 'for=192.0.2.1'))).toBe('10.0.0.1');
    expect(new Clients(' ').of(from('10.0.0.1', 'for=192.0.2.1'))).toBe('10.0.0.1');
  });

  it.each(['10.0.0', '10.0.0.1/33', '10.0.0.1/', '10.0.0.1/8/8', '::1/129', 'proxy', '::1,', '/8'])(
    'cannot be behind %s',
    (text) => {
      expect(() => new Clients(text)).toThrow(TypeError);
    },
  );

  it.each(['10.0.0.1/32', '0.0.0.0/0', '::/0', '::1/128'])('can be behind %s', (text) => {
    expect(() => new Clients(text)).not.toThrow();
  });
});
