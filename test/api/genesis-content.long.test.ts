/**
 * Listings of everything that a genesis writes under its accounts, compared with the file: order, groups, bytes, and
 * the same texts as for single resources and modules (docs/spec/ledger.md §5.4, §5.5).
 */
import { expect, it } from 'vitest';
import {
  FileCursor,
  type FileModule,
  type FileResource,
  type NamedType,
  shortAddress,
  typeName,
} from './genesis-file.ts';
import { describeServed, expectBytes, type Served } from './genesis-served.ts';

/** ULEB128 of a path's length, then the path: the sort order of an account's keys. */
function orderOf({ path }: FileModule | FileResource): Buffer {
  const { length } = path;
  const uleb = length < 128 ? [length] : [(length % 128) | 128, length >> 7];
  return Buffer.concat([Buffer.from(uleb), path]);
}

interface Resource {
  readonly type: NamedType;
  readonly tagBytes: Buffer;
  readonly bytes: Buffer;
}

function compareTypes({ type: left }: Resource, { type: right }: Resource): number {
  const text = ({ address, module, name }: NamedType) => [address, module, name];
  const [a, b] = [text(left), text(right)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at === -1 ? 0 : Buffer.compare(Buffer.from(a[at]!), Buffer.from(b[at]!));
}

function membersOf(group: FileResource): Resource[] {
  const cursor = new FileCursor(group.bytes);
  const members: Resource[] = [];
  for (let left = cursor.uleb(); left > 0; left -= 1) {
    const start = cursor.offset;
    const type = cursor.namedType();
    members.push({ type, tagBytes: cursor.since(start), bytes: cursor.bytes() });
  }
  return members.sort(compareTypes);
}

/** An account's expected resources, in the order of the listing. */
function expectedResources({ file }: Served, account: string): Resource[] {
  const groups = new Set(file.groups);
  return [...file.resources, ...file.groups]
    .filter(({ address }) => address === account)
    .sort((left, right) => Buffer.compare(orderOf(left), orderOf(right)))
    .flatMap((item) =>
      groups.has(item)
        ? membersOf(item)
        : [{ type: item.type, tagBytes: item.path.subarray(1), bytes: item.bytes }],
    );
}

function uleb(value: number): Buffer {
  const low = value % 128;
  return value < 128
    ? Buffer.of(value)
    : Buffer.concat([Buffer.of(low | 128), uleb(Math.floor(value / 128))]);
}

function byteMap(entries: readonly (readonly [key: Buffer, value: Buffer])[]): Buffer {
  const sorted = [...entries].sort(([left], [right]) => Buffer.compare(left, right));
  const parts = sorted.flatMap(([key, value]) => [key, uleb(value.length), value]);
  return Buffer.concat([uleb(sorted.length), ...parts]);
}

describeServed('the content of accounts', ['mainnet', 'testnet', 'devnet'], (served) => {
  function accounts(): string[] {
    const { modules, resources, groups } = served.file;
    return [...new Set([...modules, ...resources, ...groups].map(({ address }) => address))];
  }

  it('lists every resource with the bytes of the file', async () => {
    let count = 0;
    for (const account of accounts()) {
      const expected = expectedResources(served, account);
      const body = await served.bcs(`/v1/accounts/${account}/resources`);
      expectBytes(body, byteMap(expected.map(({ tagBytes, bytes }) => [tagBytes, bytes])));
      count += expected.length;
    }
    const { resources, groups } = served.file;
    expect(count).toBe(resources.length + groups.flatMap(membersOf).length);
    // Devnet's nine groups have twenty members (docs/spec/ledger.md §1.4).
    if (served.name === 'devnet') expect(groups.flatMap(membersOf).length).toBe(20);
  });

  it('has every resource by itself with the bytes of the file', async () => {
    const own = accounts().flatMap((account) =>
      expectedResources(served, account).map((resource) => ({ account, ...resource })),
    );
    for (const { account, type, bytes } of own) {
      // The small genesis has no modules that define group members.
      if (served.name === 'small' && type.module === 'object') continue;
      if (served.name === 'small' && type.module === 'fungible_asset') continue;
      const tag = encodeURIComponent(typeName(type));
      expectBytes(await served.bcs(`/v1/accounts/${account}/resource/${tag}`), bytes);
    }
  });

  it('shows resources in the order of their keys, each as it is shown by itself', async () => {
    // The small genesis does not publish the types of its resources.
    if (served.name === 'small') return;
    const some = accounts().filter((_, index) => index % 20 === 0 || index < 12);
    for (const account of some) {
      const texts: string[] = [];
      for (const { type } of expectedResources(served, account)) {
        const tag = encodeURIComponent(typeName(type));
        const text = await served.json(`/v1/accounts/${account}/resource/${tag}`);
        expect(text.startsWith(`{"type":"${typeName(type)}","data":{`)).toBe(true);
        texts.push(text);
      }
      expect(await served.json(`/v1/accounts/${account}/resources`)).toBe(`[${texts.join(',')}]`);
    }
  });

  it('lists every module with the bytes of the file, each as it is shown by itself', async () => {
    for (const account of accounts()) {
      const modules = served.file.modules
        .filter(({ address }) => address === account)
        .sort((left, right) => Buffer.compare(orderOf(left), orderOf(right)));
      const entries = modules.map(({ name, bytes }) => {
        const id = Buffer.from(`${shortAddress(account)}::${name}`);
        return [Buffer.concat([uleb(id.length), id]), bytes] as const;
      });
      expectBytes(await served.bcs(`/v1/accounts/${account}/modules`), byteMap(entries));
      if (modules.length === 0) continue;
      const texts: string[] = [];
      for (const { name } of modules) {
        texts.push(await served.json(`/v1/accounts/${account}/module/${name}`));
      }
      const list = await served.json(`/v1/accounts/${account}/modules`);
      expect(list === `[${texts.join(',')}]`).toBe(true);
    }
  });

  it('has accounts as their resources say', async () => {
    for (const { address, type, bytes } of served.file.resources) {
      if (typeName(type) !== '0x1::account::Account') continue;
      const cursor = new FileCursor(bytes);
      const key = cursor.bytes().toString('hex');
      const number = cursor.u64();
      expect(await served.json(`/v1/accounts/${address}`)).toBe(
        `{"sequence_number":"${number}","authentication_key":"0x${key}"}`,
      );
      expectBytes(await served.bcs(`/v1/accounts/${address}`), bytes);
    }
  });

  it('does not find an account where no flag says that every one exists', async () => {
    for (const accept of ['application/json', 'application/x-bcs']) {
      const response = await served.ask('/v1/accounts/0xdead0000beef', accept);
      // Devnet's genesis sets the flag; those of 2022 do not, and the small one has no flags at all.
      expect(response.statusCode).toBe(served.name === 'devnet' ? 200 : 404);
    }
  });

  it('gives the genesis transaction and its block', async () => {
    const page = await served.bcs('/v1/transactions?start=0');
    const one = await served.bcs('/v1/transactions/by_version/0');
    expect([page[0], one[0]]).toEqual([1, 0]);
    expectBytes(page.subarray(1), one.subarray(1));
    const block = await served.json('/v1/blocks/by_height/0');
    expect(block).toBe(
      `{"block_height":"0","block_hash":"0x${'0'.repeat(64)}","block_timestamp":"0",` +
        '"first_version":"0","last_version":"0","transactions":null}',
    );
    const withTransactions = await served.bcs('/v1/blocks/by_version/0?with_transactions=true');
    expectBytes(withTransactions.subarray(65), page);
  });
});
