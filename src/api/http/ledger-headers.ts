/** The ledger's state as response headers (docs/spec/http.md §3, docs/spec/decisions.md D1). */
import type { LedgerState } from '../../ledger/ledger-view.ts';
import { type HeaderBlock, headerLines, NO_HEADERS } from './response-writing.ts';

/** A header: its name after the prefix, and the member of the state that it shows. */
interface LedgerHeader {
  readonly suffix: string;
  readonly member: keyof LedgerState;
  readonly description: string;
}

const OLDEST_VERSION = 'Oldest ledger version that is kept.';
const TIME = 'Time of the latest version, in microseconds since 1970.';
const OLDEST_HEIGHT = 'Height of the oldest block that is kept.';

/** The seven headers of every answer; the chain id is a u8, all others are u64. */
export const LEDGER_HEADERS: readonly LedgerHeader[] = [
  { suffix: 'CHAIN-ID', member: 'chainId', description: 'Chain id.' },
  { suffix: 'LEDGER-VERSION', member: 'version', description: 'Latest ledger version.' },
  { suffix: 'LEDGER-OLDEST-VERSION', member: 'oldestVersion', description: OLDEST_VERSION },
  { suffix: 'LEDGER-TIMESTAMPUSEC', member: 'timestampUsecs', description: TIME },
  { suffix: 'EPOCH', member: 'epoch', description: 'Epoch of the latest version.' },
  { suffix: 'BLOCK-HEIGHT', member: 'blockHeight', description: 'Height of the latest block.' },
  { suffix: 'OLDEST-BLOCK-HEIGHT', member: 'oldestBlockHeight', description: OLDEST_HEIGHT },
];

export const CURSOR_SUFFIX = 'CURSOR';
/** Only where the reference sends it: the gas of a simulation or a view. */
export const GAS_USED_SUFFIX = 'GAS-USED';
/** Names the node that gave the answer, if it was another node. */
export const UPSTREAM_SUFFIX = 'UPSTREAM';
/** Only on a fork in a test: the answer read an overridden value. */
const OVERRIDDEN_SUFFIX = 'OVERRIDDEN';
/** Headers that only some answers have; browsers may read them too. */
const OPTIONAL_SUFFIXES = [GAS_USED_SUFFIX, CURSOR_SUFFIX, UPSTREAM_SUFFIX];

/** Renders the ledger headers with a prefix; those of the latest state are cached. */
export class LedgerHeaders {
  readonly #names: readonly string[];
  #state: LedgerState | undefined;
  #headers: HeaderBlock = NO_HEADERS;
  readonly cursorName: string;
  readonly gasUsedName: string;
  readonly upstreamName: string;
  readonly #overriddenName: string;
  readonly exposed: string;

  /** @param prefix e.g. `X-NODE`; names are sent in lower case */
  constructor(prefix: string) {
    const name = (suffix: string) => `${prefix}-${suffix}`.toLowerCase();
    this.#names = LEDGER_HEADERS.map((header) => name(header.suffix));
    this.cursorName = name(CURSOR_SUFFIX);
    this.gasUsedName = name(GAS_USED_SUFFIX);
    this.upstreamName = name(UPSTREAM_SUFFIX);
    this.#overriddenName = name(OVERRIDDEN_SUFFIX);
    this.exposed = [...this.#names, ...OPTIONAL_SUFFIXES.map(name), 'etag'].join(', ');
  }

  get latestState(): LedgerState | undefined {
    return this.#state;
  }

  of(state: LedgerState | undefined): HeaderBlock {
    if (state === undefined) return NO_HEADERS;
    if (state.isOverridden === true) {
      const list = [...this.#listOf(state), this.#overriddenName, 'true'];
      return { list, lines: headerLines(list) };
    }
    if (state !== this.#state) {
      this.#state = state;
      const list = this.#listOf(state);
      this.#headers = { list, lines: headerLines(list) };
    }
    return this.#headers;
  }

  #listOf(state: LedgerState): string[] {
    return LEDGER_HEADERS.flatMap((header, index) => [
      this.#names[index]!,
      String(state[header.member]),
    ]);
  }
}
