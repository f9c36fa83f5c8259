/**
 * Reads genesis files with a decoder of its own, written from docs/spec/ledger.md §1 alone, without code of src/. Tests
 * compare the node's responses with it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const GENESIS_FOLDER = new URL('../../../shared/genesis/', import.meta.url);

/** Whether the real genesis files exist. */
export const genesisPresent = existsSync(GENESIS_FOLDER);

/** Facts about each file from docs/spec/ledger.md §1.4 and the folder's README. */
export const NETWORKS = {
  mainnet: {
    chainId: 1,
    waypointFile: 'mainnet.genesis_waypoint.txt',
    counts: { modules: 70, resources: 1323, groups: 0, tableItems: 1, events: 1499 },
  },
  testnet: {
    chainId: 2,
    waypointFile: 'testnet.genesis_waypoint.txt',
    counts: { modules: 63, resources: 64, groups: 0, tableItems: 1, events: 33 },
  },
  devnet: {
    chainId: 243,
    waypointFile: 'devnet.waypoint.txt',
    counts: { modules: 190, resources: 99, groups: 9, tableItems: 4, events: 37 },
  },
} as const;
export type Network = keyof typeof NETWORKS;
export const NETWORK_NAMES = Object.keys(NETWORKS) as Network[];

/** Path of a file in the folder of genesis files. */
export function genesisPath(file: string): string {
  return fileURLToPath(new URL(file, GENESIS_FOLDER));
}

/** A struct's name, and its type arguments in canonical text. */
export interface NamedType {
  /** 64 hex digits. */
  readonly address: string;
  readonly module: string;
  readonly name: string;
  readonly typeArguments: readonly string[];
}

export interface FileModule {
  /** 64 hex digits. */
  readonly address: string;
  readonly name: string;
  /** The BCS of the path, as in the state key. */
  readonly path: Buffer;
  readonly bytes: Buffer;
}

export interface FileResource {
  /** 64 hex digits. */
  readonly address: string;
  /** The BCS of the path, as in the state key. */
  readonly path: Buffer;
  readonly type: NamedType;
  readonly bytes: Buffer;
}

/** An event of a stream. */
export interface FileEvent {
  /** 64 hex digits. */
  readonly address: string;
  readonly creationNumber: bigint;
  readonly sequenceNumber: bigint;
  readonly type: NamedType;
  readonly data: Buffer;
  /** The event's own BCS in the file, including its variant. */
  readonly bytes: Buffer;
}

/** Everything a genesis file writes, in file order. */
export class GenesisFile {
  readonly modules: FileModule[] = [];
  readonly resources: FileResource[] = [];
  readonly groups: FileResource[] = [];
  readonly streamEvents: FileEvent[] = [];
  tableItems = 0;
  moduleEvents = 0;

  constructor(file: Buffer) {
    const cursor = new FileCursor(file);
    if (cursor.take(3).toString('hex') !== '010000') throw new Error('not a genesis file');
    for (let left = cursor.uleb(); left > 0; left -= 1) this.#readWrite(cursor);
    for (let left = cursor.uleb(); left > 0; left -= 1) this.#readEvent(cursor);
    if (cursor.offset !== file.length) throw new Error(`bytes left from ${cursor.offset} on`);
  }

  #readWrite(cursor: FileCursor): void {
    const keyKind = cursor.uleb();
    const address = cursor.address();
    const pathBytes = cursor.bytes();
    const path = new FileCursor(pathBytes);
    const opKind = cursor.uleb();
    if (keyKind > 1 || opKind > 1) throw new Error(`unexpected write ${keyKind} ${opKind}`);
    const bytes = cursor.bytes();
    if (keyKind === 1) {
      this.tableItems += 1;
      return;
    }
    const pathKind = path.uleb();
    if (pathKind === 0) {
      path.address();
      this.modules.push({ address, name: path.text(), path: pathBytes, bytes });
    } else {
      const list = pathKind === 1 ? this.resources : this.groups;
      list.push({ address, type: path.namedType(), path: pathBytes, bytes });
    }
  }

  #readEvent(cursor: FileCursor): void {
    const start = cursor.offset;
    if (cursor.uleb() === 1) {
      cursor.typeText();
      cursor.bytes();
      this.moduleEvents += 1;
      return;
    }
    const creationNumber = cursor.u64();
    const address = cursor.address();
    const sequenceNumber = cursor.u64();
    if (cursor.uleb() !== 7) throw new Error('an event whose type is no struct');
    const type = cursor.namedType();
    const data = cursor.bytes();
    const bytes = cursor.since(start);
    this.streamEvents.push({ address, creationNumber, sequenceNumber, type, data, bytes });
  }
}

/** Reads one of the real files. */
export function readGenesisFile(network: Network): GenesisFile {
  return new GenesisFile(readFileSync(genesisPath(`${network}.blob`)));
}

/** Reads BCS forwards. Asserts that the bytes exist and that none are left over. */
export class FileCursor {
  offset = 0;
  readonly #file: Buffer;

  constructor(file: Buffer) {
    this.#file = file;
  }

  get isAtEnd(): boolean {
    return this.offset === this.#file.length;
  }

  take(length: number): Buffer {
    const end = this.offset + length;
    if (end > this.#file.length) throw new Error(`the file ends before ${end}`);
    const taken = this.#file.subarray(this.offset, end);
    this.offset = end;
    return taken;
  }

  since(start: number): Buffer {
    return this.#file.subarray(start, this.offset);
  }

  uleb(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.take(1)[0]!;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  }

  u64(): bigint {
    return this.take(8).readBigUInt64LE();
  }

  address(): string {
    return this.take(32).toString('hex');
  }

  bytes(): Buffer {
    return this.take(this.uleb());
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  namedType(): NamedType {
    const address = this.address();
    const module = this.text();
    const name = this.text();
    const typeArguments: string[] = [];
    for (let left = this.uleb(); left > 0; left -= 1) typeArguments.push(this.typeText());
    return { address, module, name, typeArguments };
  }

  typeText(): string {
    const kind = this.uleb();
    if (kind === 6) return `vector<${this.typeText()}>`;
    if (kind === 7) return typeName(this.namedType());
    const primitive = PRIMITIVES[kind];
    if (primitive === undefined) throw new Error(`unexpected type ${kind}`);
    return primitive;
  }
}

const PRIMITIVES: readonly (string | undefined)[] = [
  ...['bool', 'u8', 'u64', 'u128', 'address', 'signer'],
  ...[undefined, undefined, 'u16', 'u32', 'u256'],
];

/** `0x1` from 64 hex digits. */
export function shortAddress(address: string): string {
  return `0x${address.replace(/^0{1,63}/, '')}`;
}

/** `0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>`. */
export function typeName({ address, module, name, typeArguments }: NamedType): string {
  const tail = typeArguments.length === 0 ? '' : `<${typeArguments.join(', ')}>`;
  return `${shortAddress(address)}::${module}::${name}${tail}`;
}
