/** Account balance: the exact figure, and its history sampled over versions. */
import { ApiFailure, send } from '../api-client.ts';
import { BalanceChart } from '../balance-chart.ts';
import { type SampleOutcome, sampleHistory, type VersionRange } from '../balance-history.ts';
import { copyButton } from '../copy-button.ts';
import { announce, element } from '../dom.ts';
import { failurePanel } from '../failure-panel.ts';
import { form, textInput } from '../form-fields.ts';
import { balanceRequest } from '../ledger-requests.ts';
import type { LedgerInfo, LiveLedger } from '../live-ledger.ts';
import { counted, groupDigits, readU64 } from '../number-text.ts';
import { RequestPanel } from '../request-panel.ts';
import { routeHash } from '../route.ts';
import { LatestRun, type View, type ViewContext } from '../view.ts';

const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';

/** What the route asks for. */
interface BalanceQuery {
  readonly account: string;
  readonly asset: string;
  /** A version, or empty for the latest. */
  readonly version: string;
  /** Ends of the chart; empty for the oldest and the newest version. */
  readonly from: string;
  readonly to: string;
}

function readQuery(parameters: ReadonlyMap<string, string>): BalanceQuery {
  const get = (name: string): string => parameters.get(name)?.trim() ?? '';
  return {
    account: get('account'),
    asset: get('asset') || NATIVE_COIN,
    version: get('version'),
    from: get('from'),
    to: get('to'),
  };
}

/** Reads the body of a balance answer, a bare number up to 2^64−1; undefined for anything else. */
function readBalance(text: string): bigint | undefined {
  return readU64(text.trim());
}

function figureNote(version: bigint | undefined): string {
  const where = version === undefined ? '' : `, at version ${groupDigits(version)}`;
  return `in the asset’s smallest unit${where}`;
}

/** Makes the view. */
export function balanceView(context: ViewContext): View {
  const view = new BalanceView(context);
  return { node: view.node, update: (parameters) => view.update(readQuery(parameters)) };
}

class BalanceView {
  readonly node: HTMLElement;
  readonly #live: LiveLedger;
  readonly #runs: LatestRun;
  readonly #result = element('div', { class: 'result' });
  readonly #history = element('div');
  readonly #panel = new RequestPanel();
  readonly #account = textInput('Account', 'account', { required: true, wide: true });
  readonly #asset = textInput('Asset', 'asset', {
    hint: 'A coin type, or the address of a fungible asset’s metadata.',
    suggestions: [NATIVE_COIN, '0xa'],
    required: true,
    wide: true,
  });
  readonly #version = textInput('At version', 'version', { numeric: true, placeholder: 'latest' });
  readonly #from = textInput('Chart from version', 'from', {
    numeric: true,
    placeholder: 'oldest kept',
  });
  readonly #to = textInput('Chart to version', 'to', { numeric: true, placeholder: 'latest' });

  constructor({ live, signal, go }: ViewContext) {
    this.#live = live;
    this.#runs = new LatestRun(signal);
    const inputs = [this.#account, this.#asset, this.#version, this.#from, this.#to];
    const query = form(
      'Balance',
      inputs.map(({ node }) => node),
      'Show balance',
      () => {
        const entries = inputs.map(({ input }) => [input.name, input.value.trim()]);
        go(routeHash('balance', Object.fromEntries(entries) as Record<string, string>));
      },
    );
    this.node = element('div', {}, query, this.#result, this.#history, this.#panel.node);
  }

  update(query: BalanceQuery): void {
    const signal = this.#runs.begin();
    this.#account.input.value = query.account;
    this.#asset.input.value = query.asset;
    this.#version.input.value = query.version;
    this.#from.input.value = query.from;
    this.#to.input.value = query.to;
    this.#result.replaceChildren();
    this.#history.replaceChildren();
    this.#panel.node.hidden = true;
    if (query.account === '') return;
    void this.#showBalance(query, signal);
  }

  async #showBalance(query: BalanceQuery, signal: AbortSignal): Promise<void> {
    const request = balanceRequest(query.account, query.asset, query.version);
    this.#panel.show(request);
    try {
      const answer = await send(request, signal);
      const balance = readBalance(answer.text);
      const version = readU64(answer.ledgerHeaders.get('ledger-version') ?? '');
      this.#panel.showAnswer(answer);
      this.#showFigure(balance, answer.text, query.version, version);
      void this.#showHistory(query, version, signal);
      if (query.version === '' && version !== undefined) this.#follow(query, version, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiFailure) this.#panel.showFailure(error);
      this.#result.replaceChildren(failurePanel('No balance', error));
    }
  }

  #showFigure(
    balance: bigint | undefined,
    text: string,
    pinned: string,
    version: bigint | undefined,
  ): void {
    const digits = balance === undefined ? text : String(balance);
    const at = pinned === '' ? version : readU64(pinned);
    const figure = element('output', { class: 'big-figure' }, groupDigits(digits));
    const note = figureNote(at);
    this.#result.replaceChildren(
      element(
        'div',
        { class: 'figure-line' },
        figure,
        copyButton('Copy digits', figure, () => figure.textContent.replaceAll(',', '')),
      ),
      element('p', { class: 'figure-note' }, note),
    );
    announce(`Balance ${groupDigits(digits)}, ${note}`);
  }

  /** Asks again whenever the ledger has moved on, without announcing it. A failure is shown until the next success. */
  #follow(query: BalanceQuery, known: bigint, signal: AbortSignal): void {
    let shown = known;
    let asking = false;
    const refresh = async (): Promise<void> => {
      const answer = await send(balanceRequest(query.account, query.asset), signal);
      shown = readU64(answer.ledgerHeaders.get('ledger-version') ?? '') ?? shown;
      this.#replaceFigure(String(readBalance(answer.text) ?? answer.text), shown);
      this.#panel.addSimilar('to follow the ledger');
    };
    const fail = (error: unknown): void => {
      if (signal.aborted || this.#result.querySelector('.failure') !== null) return;
      this.#result.append(failurePanel('The balance could not be asked again', error));
    };
    this.#live.subscribe(({ status, info }) => {
      if (asking || status !== 'live' || info === undefined || info.version <= shown) return;
      asking = true;
      refresh()
        .catch(fail)
        .finally(() => {
          asking = false;
        });
    }, signal);
  }

  #replaceFigure(digits: string, version: bigint): void {
    this.#result.querySelector('.failure')?.remove();
    this.#result.querySelector('output')!.textContent = groupDigits(digits);
    this.#result.querySelector('.figure-note')!.textContent = figureNote(version);
  }

  async #showHistory(
    query: BalanceQuery,
    latest: bigint | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const range = await this.#range(query, latest, signal);
    if (range === undefined) return;
    const chart = new BalanceChart(range, signal);
    const progress = element('p', { class: 'hint' });
    this.#history.replaceChildren(
      element(
        'section',
        { class: 'history', 'aria-labelledby': 'history' },
        element('h2', { id: 'history' }, 'History'),
        chart.node,
        progress,
      ),
    );
    try {
      const samples = await sampleHistory(
        range,
        (version) => this.#sample(query, version, signal),
        (known) => {
          chart.show(known);
          progress.textContent = `${counted(known.length, 'sample')} so far…`;
        },
      );
      progress.textContent =
        `${counted(samples.length, 'request')}, each at one version; nothing is claimed ` +
        'about versions between them.';
    } catch (error) {
      if (!signal.aborted) this.#history.append(failurePanel('History broken off', error));
    }
  }

  /** The chart's ends; an empty range gives a message instead of a chart. */
  async #range(
    query: BalanceQuery,
    latest: bigint | undefined,
    signal: AbortSignal,
  ): Promise<VersionRange | undefined> {
    const info = await this.#ledgerInfo(signal);
    const from = query.from === '' ? info.oldestVersion : readU64(query.from);
    const to = query.to === '' ? (latest ?? info.version) : readU64(query.to);
    if (signal.aborted || from === undefined || to === undefined || from > to) {
      const problem = new RangeError(
        'The chart’s ends must be versions, the first not above the last.',
      );
      if (!signal.aborted) this.#history.replaceChildren(failurePanel('No history', problem));
      return undefined;
    }
    return { from, to };
  }

  /** Waits for the first answer of the index if need be. */
  #ledgerInfo(signal: AbortSignal): Promise<LedgerInfo> {
    return new Promise((resolve) => {
      this.#live.subscribe(({ info }) => {
        if (info !== undefined) resolve(info);
      }, signal);
    });
  }

  async #sample(query: BalanceQuery, version: bigint, signal: AbortSignal): Promise<SampleOutcome> {
    const request = balanceRequest(query.account, query.asset, String(version));
    try {
      const answer = await send(request, signal);
      this.#panel.addSimilar('with other ledger_version');
      const balance = readBalance(answer.text);
      if (balance !== undefined) return { kind: 'balance', balance };
      const facts = { status: answer.status, code: 'unreadable_answer' };
      return { kind: 'refused', ...facts, message: 'the answer is no balance' };
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      this.#panel.addSimilar('with other ledger_version');
      const { status, code, message } = error;
      return { kind: 'refused', status, code, message };
    }
  }
}
