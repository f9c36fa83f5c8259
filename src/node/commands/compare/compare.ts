/**
 * Compares the answers of a ledger with those of another node, at versions that both have. The ledger is served like
 * any other, on loopback, so that the production code is compared.
 */
import { type Answer, ledgerState, nodeHeader } from '../../../remote/answer.ts';
import { interfaceBase } from '../../../remote/node-url.ts';
import { NodeError } from '../../node-error.ts';
import { startEmbeddedNode } from '../../serve/embedded.ts';
import { namedBase } from '../../settings/upstream-url.ts';
import { type Difference, differencesOf } from './answer-differences.ts';
import {
  type ComparedRequest,
  isExecution,
  type RoutedRequest,
  readsNewestVersion,
  requestsOf,
  routed,
} from './compared-request.ts';
import { drawnRequests } from './drawn-requests.ts';
import { knownDifference } from './known-differences.ts';
import { NodeClient } from './node-client.ts';

const MAX_CONCURRENT = 8;
/** Consecutive unanswered requests after which the comparison stops: each may take minutes. */
export const MAX_UNANSWERED_IN_ROW = 16;
export const MAX_REPORTED = 100;

interface ComparisonRequest {
  readonly data: string;
  readonly url: string;
  readonly requestsFile: string | undefined;
  onProgress(counts: Counts): void;
}

interface NodeVersions {
  readonly chainId: number;
  readonly oldestVersion: bigint;
  readonly version: bigint;
}

interface Counts {
  requests: number;
  equal: number;
  different: number;
  known: number;
  skipped: number;
  unanswered: number;
}

/** A request that was answered differently, or by one node only. */
interface ReportedRequest {
  readonly method: string;
  readonly path: string;
  readonly accept: string | undefined;
  readonly differences: readonly Difference[];
}

interface Result {
  readonly counts: Counts;
  /** How often each known difference occurred, by its subject in docs/differences.md. */
  readonly known: Map<string, number>;
  readonly reported: ReportedRequest[];
  firstFailure: string | undefined;
  /** Whether the comparison stopped early, after MAX_UNANSWERED_IN_ROW unanswered requests. */
  isCutShort: boolean;
}

export interface Comparison extends Readonly<Result> {
  readonly otherUrl: string;
  readonly chainId: number;
  readonly fromVersion: bigint;
  readonly toVersion: bigint;
}

/** @throws NodeError `bad_setting`, `not_comparable`, `bad_input`, and what starting a node throws */
export async function compareNodes(request: ComparisonRequest): Promise<Comparison> {
  const { data, url, requestsFile } = request;
  const theirBase = namedBase(url);
  const unbounded = { maxBacklogMs: 0 };
  const node = await startEmbeddedNode({ data, settings: unbounded });
  const ours = new NodeClient(interfaceBase(node.url));
  const theirs = new NodeClient(theirBase);
  try {
    const [own, other] = await Promise.all([
      versionsOf(ours, `the ledger in ${data}`),
      versionsOf(theirs, theirBase.href),
    ]);
    const { from, to } = commonVersions(own, other, theirBase.href);
    const requests =
      requestsFile === undefined
        ? await drawnRequests((path) => jsonOf(ours, path), from, to)
        : requestsOf(requestsFile);
    const comparer = new Comparer(ours, theirs, to, request.onProgress);
    await comparer.run(requests);
    const { chainId } = own;
    return {
      ...{ otherUrl: theirBase.href, chainId, fromVersion: from, toVersion: to },
      ...comparer.result,
    };
  } finally {
    ours.close();
    theirs.close();
    await node.stop();
  }
}

/** @throws NodeError `not_comparable` */
async function versionsOf(client: NodeClient, label: string): Promise<NodeVersions> {
  const answer = await client.send({ method: 'GET', path: '/v1', headers: {} });
  if (typeof answer === 'string') throw notComparable(`${label} does not answer: ${answer}`);
  const { chainId, ledgerVersion: version, oldestVersion } = ledgerState(answer.headers);
  if (chainId === undefined || version === undefined || oldestVersion === undefined) {
    throw notComparable(
      `${label} answers ${answer.status} without ledger headers: it is not a node`,
    );
  }
  return { chainId, version, oldestVersion };
}

/** @throws NodeError `not_comparable` */
function commonVersions(own: NodeVersions, other: NodeVersions, otherLabel: string) {
  if (own.chainId !== other.chainId) {
    throw notComparable(
      `${otherLabel} is of chain ${other.chainId}, this ledger of chain ${own.chainId}`,
    );
  }
  const isAhead = own.version > other.version;
  const to = isAhead ? other.version : own.version;
  const isLonger = own.oldestVersion < other.oldestVersion;
  const from = isLonger ? other.oldestVersion : own.oldestVersion;
  if (from <= to) return { from, to };
  const ranges = [own, other].map(({ oldestVersion, version }) => `${oldestVersion} to ${version}`);
  throw notComparable(
    `no version is in both ledgers: this one has ${ranges[0]}, ${otherLabel} has ${ranges[1]}`,
  );
}

function notComparable(message: string): NodeError {
  return new NodeError('not_comparable', message, { exitCode: 2 });
}

/** The JSON of an answer; undefined for a refusal. @throws NodeError `not_comparable` */
async function jsonOf(client: NodeClient, path: string): Promise<unknown> {
  const answer = await client.send({ method: 'GET', path, headers: {} });
  if (typeof answer === 'string') throw notComparable(`this ledger does not answer: ${answer}`);
  if (answer.status !== 200) return undefined;
  return JSON.parse(answer.body.toString('utf8'));
}

class Comparer {
  readonly #ours: NodeClient;
  readonly #theirs: NodeClient;
  readonly #version: bigint;
  readonly #onProgress: (counts: Counts) => void;
  #unansweredInRow = 0;
  readonly result: Result = {
    counts: { requests: 0, equal: 0, different: 0, known: 0, skipped: 0, unanswered: 0 },
    known: new Map(),
    reported: [],
    firstFailure: undefined,
    isCutShort: false,
  };

  constructor(
    ours: NodeClient,
    theirs: NodeClient,
    version: bigint,
    onProgress: (counts: Counts) => void,
  ) {
    this.#ours = ours;
    this.#theirs = theirs;
    this.#version = version;
    this.#onProgress = onProgress;
  }

  /** Asks both nodes everything, several requests at a time. */
  async run(requests: Iterable<ComparedRequest> | AsyncIterable<ComparedRequest>): Promise<void> {
    const running = new Set<Promise<void>>();
    for await (const request of requests) {
      this.result.isCutShort = this.#unansweredInRow >= MAX_UNANSWERED_IN_ROW;
      if (this.result.isCutShort) break;
      const task = this.#compare(routed(request, this.#version)).finally(() => {
        running.delete(task);
      });
      running.add(task);
      if (running.size >= MAX_CONCURRENT) await Promise.race(running);
    }
    await Promise.all(running);
  }

  async #compare(request: RoutedRequest): Promise<void> {
    const { counts } = this.result;
    if (isExecution(request)) counts.skipped += 1;
    else {
      const [ours, theirs] = await Promise.all([
        this.#ours.send(request),
        this.#theirs.send(request),
      ]);
      if (typeof ours === 'string') this.#fail(request, ours);
      else if (typeof theirs === 'string') this.#fail(request, theirs);
      else {
        this.#unansweredInRow = 0;
        this.#classify(request, ours, theirs);
      }
    }
    counts.requests += 1;
    this.#onProgress(counts);
  }

  #fail({ method, path }: RoutedRequest, why: string): void {
    this.result.counts.unanswered += 1;
    this.#unansweredInRow += 1;
    this.result.firstFailure ??= `${method} ${path}: ${why}`;
  }

  #classify(request: RoutedRequest, ours: Answer, theirs: Answer): void {
    const { counts, known, reported } = this.result;
    const differences = differencesOf(ours, theirs);
    if (differences.length === 0) {
      counts.equal += 1;
      return;
    }
    const subject = knownDifference(request, ours, theirs);
    if (subject !== undefined) {
      counts.known += 1;
      known.set(subject, (known.get(subject) ?? 0) + 1);
    } else if (readsNewestVersion(request) && newestOf(ours) !== newestOf(theirs)) {
      counts.skipped += 1;
    } else {
      counts.different += 1;
      const { method, path, headers } = request;
      if (reported.length === MAX_REPORTED) return;
      reported.push({ method, path, accept: headers['accept'], differences });
    }
  }
}

function newestOf(answer: Answer): string | undefined {
  return nodeHeader(answer.headers, 'ledger-version');
}
