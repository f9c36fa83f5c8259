/**
 * Divides a signing message into labelled runs of bytes (docs/spec/encode.md §A5). The bytes alone determine the
 * division. The meaning of an entry function's arguments requires the module, so the node's decoding adds it.
 */
import { BcsError, BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import { formatHex, parseHex } from '../../../src/move/bcs/hex.ts';
import { TransactionArgument } from '../../../src/move/transactions/transaction-argument.ts';
import { formatAddress, HexTextError } from '../../../src/move/types/address.ts';
import { formatTypeTag, readTypeTag } from '../../../src/move/types/type-tag.ts';
import { groupDigits, timeText } from '../parts/number-text.ts';

/** Maximum length of a hex text, in digits: 8 MiB of bytes, the node's largest request. */
const MAX_HEX_DIGITS = 2 * 8 * 1024 * 1024;

/** Reads hex with or without `0x`; whitespace is ignored. @throws HexTextError */
export function readHexText(text: string): Uint8Array {
  const digits = text.replaceAll(/\s+/g, '');
  if (digits.length > MAX_HEX_DIGITS)
    throw new HexTextError('hex_bad_length', 'too many hex digits');
  return parseHex(digits);
}

/** Lower-case hex without `0x`. */
export function hexDigits(bytes: Uint8Array): string {
  return formatHex(bytes).slice(2);
}

/** A run of bytes: `start` inclusive, `end` exclusive. The parts of a message cover it without gaps. */
export interface MessagePart {
  readonly label: string;
  readonly start: number;
  readonly end: number;
  /** The value of the bytes, in words. */
  readonly meaning: string;
}

/** A message in parts; with a `problem`, the last part has the bytes that could not be read. */
export interface DividedMessage {
  readonly parts: readonly MessagePart[];
  readonly problem?: string;
}

/** SHA3-256 of the reference's two seeds (docs/spec/encode.md §A5); other domains have other prefixes. */
const SINGLE_SIGNER_PREFIX = 'b5e97db07fa0bd0e5598aa3643a9bc6f6693bddc1a9fec9e674a461eaa00b193';
const MULTI_AGENT_PREFIX = '5efa3c4f02f83a0f4b2d69fc95c607cc02825cc4e7be536ef0992df050d9e67c';

const PREFIX_BYTES = 32;
const ORDERLESS_SEQUENCE_NUMBER = 2n ** 64n - 1n;

/** Divides a signing message. Never throws for invalid bytes: the last part has those that cannot be read. */
export function divideSigningMessage(bytes: Uint8Array): DividedMessage {
  const prefix = hexDigits(bytes.subarray(0, PREFIX_BYTES));
  if (prefix === SINGLE_SIGNER_PREFIX) return new MessageDivider(bytes).divide(false);
  if (prefix === MULTI_AGENT_PREFIX) return new MessageDivider(bytes).divide(true);
  // Another signing domain: only a form that fits all bytes can be the right one.
  const single = new MessageDivider(bytes).divide(false);
  if (single.problem === undefined) return single;
  const multiAgent = new MessageDivider(bytes).divide(true);
  return multiAgent.problem === undefined ? multiAgent : single;
}

class MessageDivider {
  readonly #reader: BcsReader;
  readonly #parts: MessagePart[] = [];

  constructor(bytes: Uint8Array) {
    this.#reader = new BcsReader(bytes);
  }

  divide(multiAgent: boolean): DividedMessage {
    const parts = this.#parts;
    try {
      this.#message(multiAgent);
      this.#reader.finish();
      return { parts };
    } catch (error) {
      if (!(error instanceof BcsError)) throw error;
      const start = parts.at(-1)?.end ?? 0;
      const end = this.#reader.buffer.length;
      if (start < end) parts.push({ label: 'Not read', start, end, meaning: error.message });
      return { parts, problem: error.message };
    }
  }

  /** Adds the bytes that `read` consumes as one part; `describe` formats their value. */
  #part<Value>(label: string, read: () => Value, describe: (value: Value) => string): Value {
    const start = this.#reader.offset;
    const value = read();
    this.#parts.push({ label, start, end: this.#reader.offset, meaning: describe(value) });
    return value;
  }

  #message(multiAgent: boolean): void {
    const reader = this.#reader;
    this.#part('Prefix', () => reader.fixed(PREFIX_BYTES), prefixMeaning);
    const forms = ['multi-agent', 'multi-agent with fee payer'];
    const form = multiAgent ? this.#variant('Transaction with data', forms) : undefined;
    this.#address('Sender');
    this.#part('Sequence number', () => reader.u64(), sequenceNumberMeaning);
    this.#payload();
    this.#part('Maximum gas amount', () => reader.u64(), groupDigits);
    this.#part('Gas unit price', () => reader.u64(), groupDigits);
    this.#part(
      'Expiration',
      () => reader.u64(),
      (secs) => `${secs} s: ${timeText(secs * 1_000_000n)}`,
    );
    this.#part('Chain id', () => reader.u8(), String);
    if (multiAgent) this.#each('Secondary signer', () => reader.address(), formatAddress);
    if (form === 1) this.#address('Fee payer');
  }

  #address(label: string): void {
    this.#part(label, () => this.#reader.address(), formatAddress);
  }

  #variant(label: string, names: readonly string[]): number {
    const reader = this.#reader;
    const read = () => reader.variant(names.length, label);
    return this.#part(label, read, (variant) => `${variant}: ${names[variant]}`);
  }

  /** Adds a count, and as many parts: `Argument 1`, `Argument 2`, … */
  #each<Value>(label: string, read: () => Value, describe: (value: Value) => string): void {
    const count = this.#part(`${label}s`, () => this.#reader.length(), String);
    for (let at = 1; at <= count; at += 1) this.#part(`${label} ${at}`, read, describe);
  }

  #present(label: string): boolean {
    return this.#part(
      label,
      () => this.#reader.bool(),
      (given) => (given ? 'given' : 'none'),
    );
  }

  #payload(): void {
    const reader = this.#reader;
    const names = ['script', 'module bundle', 'entry function', 'multisig', 'payload', 'encrypted'];
    const variant = this.#variant('Payload', names);
    if (variant === 0) this.#script();
    else if (variant === 2) this.#entryFunction();
    else if (variant === 3) this.#multisig();
    else if (variant === 4) this.#payloadV1();
    else
      throw reader.error('bad_variant', `a payload of kind ${names[variant]} is not taken apart`);
  }

  #multisig(): void {
    this.#address('Multisig account');
    if (!this.#present('Inner payload, if any')) return;
    const variant = this.#variant('Inner payload kind', ['entry function', 'script']);
    if (variant === 0) this.#entryFunction();
    else this.#script();
  }

  #payloadV1(): void {
    const reader = this.#reader;
    this.#variant('Payload version', ['V1']);
    const executables = ['script', 'entry function', 'empty'];
    const executable = this.#variant('Executable', executables);
    if (executable === 0) this.#script();
    else if (executable === 1) this.#entryFunction();
    this.#variant('Extra configuration', ['V1']);
    if (this.#present('Multisig account, if any')) this.#address('Multisig account');
    if (this.#present('Nonce, if any')) {
      this.#part('Replay protection nonce', () => reader.u64(), String);
    }
  }

  #entryFunction(): void {
    const reader = this.#reader;
    this.#address('Module address');
    this.#part('Module name', () => reader.string(), String);
    this.#part('Function name', () => reader.string(), String);
    this.#typeArguments();
    this.#each('Argument', () => reader.bytes(), argumentMeaning);
  }

  #script(): void {
    const reader = this.#reader;
    const code = (bytes: Uint8Array): string => `${groupDigits(bytes.length)} bytes of bytecode`;
    this.#part('Script code', () => reader.bytes(), code);
    this.#typeArguments();
    this.#each('Argument', () => TransactionArgument.read(reader), scriptArgumentText);
  }

  #typeArguments(): void {
    this.#each('Type argument', () => readTypeTag(this.#reader), formatTypeTag);
  }
}

function prefixMeaning(prefix: Uint8Array): string {
  const hex = hexDigits(prefix);
  if (hex === SINGLE_SIGNER_PREFIX) return 'hash of the domain: a transaction with one signer';
  if (hex === MULTI_AGENT_PREFIX) return 'hash of the domain: a transaction with several signers';
  return 'hash of a signing domain that this page does not know';
}

function sequenceNumberMeaning(value: bigint): string {
  return value === ORDERLESS_SEQUENCE_NUMBER
    ? 'all bits set: none, a replay protection nonce stands in the payload'
    : groupDigits(value);
}

/** Unsigned integers by their size in bytes. */
const INTEGER_OF_SIZE = new Map<number, 'u8' | 'u16' | 'u32' | 'u64' | 'u128'>([
  [1, 'u8'],
  [2, 'u16'],
  [4, 'u32'],
  [8, 'u64'],
  [16, 'u128'],
]);

/** Arguments of entry functions are bytes. Their size suggests a type, but only the module knows it. */
function argumentMeaning(bytes: Uint8Array): string {
  const reader = new BcsReader(bytes);
  const size = bytes.length === 1 ? '1 byte' : `${groupDigits(bytes.length)} bytes`;
  if (bytes.length === 32) return `${size}; as an address ${formatAddress(reader.address())}`;
  const integer = INTEGER_OF_SIZE.get(bytes.length);
  return integer === undefined ? size : `${size}; as ${integer} ${groupDigits(reader[integer]())}`;
}

function scriptArgumentText({ kind, value }: TransactionArgument): string {
  if (kind === 'address') return `${kind} ${formatAddress(value)}`;
  if (kind === 'u8Vector') return `vector<u8> ${formatHex(value)}`;
  return `${kind} ${kind === 'serialized' ? formatHex(value) : value}`;
}
