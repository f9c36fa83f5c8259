/**
 * Takes a signing message apart into labelled runs of bytes (docs/spec/encode.md §A5). The bytes alone
 * say how they are divided; what an entry function's arguments mean needs the module, which the
 * node's decoding adds.
 */
import { ByteCursor, BytesError, toHex } from './byte-cursor.ts';
import { groupDigits, timeText } from './number-text.ts';
import { readCount, readTypeTagText } from './type-tag-text.ts';

/**
 * A run of bytes: `start` inclusive, `end` exclusive. The parts of a message tile it without gaps.
 */
export interface MessagePart {
  readonly label: string;
  readonly start: number;
  readonly end: number;
  /** What the bytes say, in words. */
  readonly meaning: string;
}

/**
 * A message in parts; when `problem` is given, the last part holds the bytes that could not be
 * read.
 */
export interface DividedMessage {
  readonly parts: readonly MessagePart[];
  readonly problem?: string;
}

/** SHA3-256 of the reference's two seeds (docs/spec/encode.md §A5); other domains have other prefixes. */
const SINGLE_SIGNER_PREFIX = 'b5e97db07fa0bd0e5598aa3643a9bc6f6693bddc1a9fec9e674a461eaa00b193';
const MULTI_AGENT_PREFIX = '5efa3c4f02f83a0f4b2d69fc95c607cc02825cc4e7be536ef0992df050d9e67c';

const PREFIX_BYTES = 32;
const ORDERLESS_SEQUENCE_NUMBER = 2n ** 64n - 1n;

/** Divides a signing message. Never throws for bad bytes: what cannot be read is the last part. */
export function divideSigningMessage(bytes: Uint8Array): DividedMessage {
  const prefix = toHex(bytes.subarray(0, PREFIX_BYTES));
  if (prefix === SINGLE_SIGNER_PREFIX) return new MessageDivider(bytes).divide(false);
  if (prefix === MULTI_AGENT_PREFIX) return new MessageDivider(bytes).divide(true);
  // Another signing domain: only the form that the bytes fit to the last one can be meant.
  const single = new MessageDivider(bytes).divide(false);
  if (single.problem === undefined) return single;
  const multiAgent = new MessageDivider(bytes).divide(true);
  return multiAgent.problem === undefined ? multiAgent : single;
}

class MessageDivider {
  readonly #cursor: ByteCursor;
  readonly #parts: MessagePart[] = [];

  constructor(bytes: Uint8Array) {
    this.#cursor = new ByteCursor(bytes);
  }

  divide(multiAgent: boolean): DividedMessage {
    const parts = this.#parts;
    try {
      this.#message(multiAgent);
      if (this.#cursor.remaining > 0) {
        throw new BytesError(`${this.#cursor.remaining} bytes too many`, this.#cursor.offset);
      }
      return { parts };
    } catch (error) {
      if (!(error instanceof BytesError)) throw error;
      const start = parts.at(-1)?.end ?? 0;
      const end = this.#cursor.bytes.length;
      if (start < end) parts.push({ label: 'Not read', start, end, meaning: error.message });
      return { parts, problem: error.message };
    }
  }

  /** Notes what `read` consumes as one part; `say` puts the value in words. */
  #part<Value>(label: string, read: () => Value, say: (value: Value) => string): Value {
    const start = this.#cursor.offset;
    const value = read();
    this.#parts.push({ label, start, end: this.#cursor.offset, meaning: say(value) });
    return value;
  }

  #message(multiAgent: boolean): void {
    const cursor = this.#cursor;
    this.#part('Prefix', () => cursor.take(PREFIX_BYTES), prefixMeaning);
    const forms = ['multi-agent', 'multi-agent with fee payer'];
    const form = multiAgent ? this.#variant('Transaction with data', forms) : undefined;
    this.#part('Sender', () => cursor.address(), String);
    this.#part('Sequence number', () => cursor.unsigned(8), sequenceNumberMeaning);
    this.#payload();
    this.#part('Maximum gas amount', () => cursor.unsigned(8), groupDigits);
    this.#part('Gas unit price', () => cursor.unsigned(8), groupDigits);
    this.#part(
      'Expiration',
      () => cursor.unsigned(8),
      (secs) => `${secs} s: ${timeText(secs * 1_000_000n)}`,
    );
    this.#part('Chain id', () => cursor.u8(), String);
    if (multiAgent) {
      const count = this.#count('Secondary signers');
      for (let at = 1; at <= count; at += 1) {
        this.#part(`Secondary signer ${at}`, () => cursor.address(), String);
      }
    }
    if (form === 1) this.#part('Fee payer', () => cursor.address(), String);
  }

  #variant(label: string, names: readonly string[]): number {
    const cursor = this.#cursor;
    const read = (): number => {
      const at = cursor.offset;
      const variant = cursor.uleb128();
      if (names[variant] === undefined) {
        throw new BytesError(`${label} variant ${variant} is unknown`, at);
      }
      return variant;
    };
    return this.#part(label, read, (variant) => `${variant}: ${names[variant]}`);
  }

  #count(label: string): number {
    return this.#part(label, () => readCount(this.#cursor), String);
  }

  #present(label: string): boolean {
    return this.#part(
      label,
      () => this.#cursor.bool(),
      (given) => (given ? 'given' : 'none'),
    );
  }

  #payload(): void {
    const cursor = this.#cursor;
    const names = ['script', 'module bundle', 'entry function', 'multisig', 'payload', 'encrypted'];
    const variant = this.#variant('Payload', names);
    if (variant === 0) this.#script();
    else if (variant === 2) this.#entryFunction();
    else if (variant === 3) this.#multisig();
    else if (variant === 4) this.#payloadV1();
    else
      throw new BytesError(`a payload of kind ${names[variant]} is not taken apart`, cursor.offset);
  }

  #multisig(): void {
    this.#part('Multisig account', () => this.#cursor.address(), String);
    if (!this.#present('Inner payload, if any')) return;
    const variant = this.#variant('Inner payload kind', ['entry function', 'script']);
    if (variant === 0) this.#entryFunction();
    else this.#script();
  }

  #payloadV1(): void {
    const cursor = this.#cursor;
    this.#variant('Payload version', ['V1']);
    const executables = ['script', 'entry function', 'empty'];
    const executable = this.#variant('Executable', executables);
    if (executable === 0) this.#script();
    else if (executable === 1) this.#entryFunction();
    this.#variant('Extra configuration', ['V1']);
    if (this.#present('Multisig account, if any')) {
      this.#part('Multisig account', () => cursor.address(), String);
    }
    if (this.#present('Nonce, if any')) {
      this.#part('Replay protection nonce', () => cursor.unsigned(8), String);
    }
  }

  #entryFunction(): void {
    const cursor = this.#cursor;
    this.#part('Module address', () => cursor.address(), String);
    this.#part('Module name', () => cursor.text(), String);
    this.#part('Function name', () => cursor.text(), String);
    this.#typeArguments();
    const count = this.#count('Arguments');
    for (let at = 1; at <= count; at += 1) {
      this.#part(`Argument ${at}`, () => cursor.lengthPrefixed(), argumentMeaning);
    }
  }

  #script(): void {
    const cursor = this.#cursor;
    const code = (bytes: Uint8Array): string => `${groupDigits(bytes.length)} bytes of bytecode`;
    this.#part('Script code', () => cursor.lengthPrefixed(), code);
    this.#typeArguments();
    const count = this.#count('Arguments');
    for (let at = 1; at <= count; at += 1) {
      this.#part(`Argument ${at}`, () => readScriptArgument(cursor), String);
    }
  }

  #typeArguments(): void {
    const count = this.#count('Type arguments');
    for (let at = 1; at <= count; at += 1) {
      this.#part(`Type argument ${at}`, () => readTypeTagText(this.#cursor), String);
    }
  }
}

function prefixMeaning(prefix: Uint8Array): string {
  const hex = toHex(prefix);
  if (hex === SINGLE_SIGNER_PREFIX) return 'hash of the domain: a transaction with one signer';
  if (hex === MULTI_AGENT_PREFIX) return 'hash of the domain: a transaction with several signers';
  return 'hash of a signing domain that this page does not know';
}

function sequenceNumberMeaning(value: bigint): string {
  return value === ORDERLESS_SEQUENCE_NUMBER
    ? 'all bits set: none, a replay protection nonce stands in the payload'
    : groupDigits(value);
}

/**
 * Arguments of entry functions are bytes; their size suggests a type, but only the module knows.
 */
function argumentMeaning(bytes: Uint8Array): string {
  const cursor = new ByteCursor(bytes);
  const size = bytes.length === 1 ? '1 byte' : `${groupDigits(bytes.length)} bytes`;
  if (bytes.length === 32) return `${size}; as an address ${cursor.address()}`;
  if (bytes.length === 8) return `${size}; as u64 ${groupDigits(cursor.unsigned(8))}`;
  if ([1, 2, 4, 16].includes(bytes.length)) {
    return `${size}; as u${8 * bytes.length} ${groupDigits(cursor.unsigned(bytes.length))}`;
  }
  return size;
}

const SCRIPT_ARGUMENTS: readonly (readonly [string, (cursor: ByteCursor) => unknown])[] = [
  ['u8', (cursor) => cursor.unsigned(1)],
  ['u64', (cursor) => cursor.unsigned(8)],
  ['u128', (cursor) => cursor.unsigned(16)],
  ['address', (cursor) => cursor.address()],
  ['vector<u8>', (cursor) => `0x${toHex(cursor.lengthPrefixed())}`],
  ['bool', (cursor) => cursor.bool()],
  ['u16', (cursor) => cursor.unsigned(2)],
  ['u32', (cursor) => cursor.unsigned(4)],
  ['u256', (cursor) => cursor.unsigned(32)],
  ['serialized', (cursor) => `0x${toHex(cursor.lengthPrefixed())}`],
  ['i8', (cursor) => cursor.signed(1)],
  ['i16', (cursor) => cursor.signed(2)],
  ['i32', (cursor) => cursor.signed(4)],
  ['i64', (cursor) => cursor.signed(8)],
  ['i128', (cursor) => cursor.signed(16)],
  ['i256', (cursor) => cursor.signed(32)],
];

function readScriptArgument(cursor: ByteCursor): string {
  const at = cursor.offset;
  const variant = cursor.uleb128();
  const kind = SCRIPT_ARGUMENTS[variant];
  if (kind === undefined) throw new BytesError(`script argument variant ${variant} is unknown`, at);
  return `${kind[0]} ${kind[1](cursor)}`;
}
