/** Metrics of one process: requests, refusals, caches, and what prom-client collects of every process. */
import { readFileSync } from 'node:fs';
import promClient, { type Registry } from 'prom-client';
import type { RequestObserver } from '../../../api/http/observers.ts';
import { type Admission, WORK_KINDS } from '../../../api/load/admission.ts';
import { END_REASONS, type ListenerTally } from '../../../api/push/listener.ts';
import type { DamageWatch } from '../../../api/rate-limited-warning.ts';
import type { CacheSize } from '../../../cache.ts';
import type { ReadServer, StoreReader } from '../../../store/store.ts';
import type { HttpUpstream } from '../upstream.ts';
import { counter, gauge, type MetricFamily, type MetricValue } from './metric-family.ts';

/** Upper bounds of the latency histogram's buckets, in seconds. */
const LATENCY_BUCKETS_SECS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
/** Methods that have their own label; the parser knows thirty more. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS'];
const OTHER_METHOD = 'other';
const NO_OPERATION = 'none';

let standardRegistry: Registry | undefined;

/** `process_…` and `nodejs_…`: once for the process, because its collectors never end. */
function standardMetrics(labels: { readonly process: string }): Registry {
  if (standardRegistry === undefined) {
    standardRegistry = new promClient.Registry();
    promClient.collectDefaultMetrics({ register: standardRegistry, labels });
  }
  return standardRegistry;
}

/** Labels tell the processes apart, so everything can be added up, even times of start. */
async function familiesOf(registry: Registry): Promise<readonly MetricFamily[]> {
  const families = await registry.getMetricsAsJSON();
  return families.map((family) => ({ ...family, aggregator: 'sum' }) as unknown as MetricFamily);
}

interface ServingParts {
  readonly admission: Admission;
  readonly damage: DamageWatch;
  readonly upstream: HttpUpstream | undefined;
  readonly store: StoreReader;
  readonly listeners: ListenerTally;
  cacheSizes(): readonly CacheSize[];
}

export class ProcessMetrics {
  readonly requests = new RequestMeter();
  readonly #labels: { readonly process: string };
  readonly #standard: Registry;
  #serving: ServingParts | undefined;

  /** @param name `primary`, or the worker's number: the label `process` */
  constructor(name: string) {
    this.#labels = { process: name };
    this.#standard = standardMetrics(this.#labels);
  }

  watch(serving: ServingParts): void {
    this.#serving = serving;
  }

  /** Everything, now. The event loop's delay is that since the last call. */
  async families(): Promise<MetricFamily[]> {
    const standard = await familiesOf(this.#standard);
    const memory = gauge(
      'daybook_own_memory_bytes',
      'Memory of the process without pages of files, such as those of the store.',
      ownMemoryBytes().flatMap((bytes) => this.#own(bytes)),
    );
    if (this.#serving === undefined) return [memory, ...standard];
    return [
      ...(await this.requests.families()),
      ...this.#servingFamilies(this.#serving),
      memory,
      ...standard,
    ];
  }

  #servingFamilies(serving: ServingParts): MetricFamily[] {
    const { admission, damage, upstream, store, listeners, cacheSizes } = serving;
    const refused = WORK_KINDS.map(
      (work): MetricValue => ({ value: admission.refusedCount(work), labels: { work } }),
    );
    const damaged = [...damage.counts].map(
      ([column, value]): MetricValue => ({ value, labels: { column } }),
    );
    const sizes = cacheSizes();
    const byCache = (what: 'bytes' | 'entries'): MetricValue[] =>
      sizes.map((size) => ({ value: size[what], labels: { ...this.#labels, cache: size.name } }));
    return [
      counter('daybook_refused_requests_total', 'Requests refused by overload.', refused),
      counter('daybook_damaged_reads_total', 'Requests that met damage of the store.', damaged),
      gauge(
        'daybook_unsent_bytes',
        'Bytes of large answers that clients have yet to take.',
        this.#own(admission.held.bytes),
      ),
      ...this.#listenerFamilies(listeners),
      ...this.#upstreamFamilies(upstream),
      ...(store.server === undefined ? [] : this.#serverFamilies(store.server)),
      gauge('daybook_cache_bytes', 'Memory of caches, estimated.', byCache('bytes')),
      gauge('daybook_cache_entries', 'Entries of caches.', byCache('entries')),
    ];
  }

  #listenerFamilies({ open, sent, ended }: ListenerTally): MetricFamily[] {
    const reasons = END_REASONS.map(
      (reason): MetricValue => ({ value: ended[reason], labels: { reason } }),
    );
    return [
      gauge('daybook_listeners', 'Event streams that are open.', this.#own(open)),
      counter('daybook_listener_events_total', 'Events sent, for each listener.', sent),
      counter('daybook_listeners_ended_total', 'Event streams that ended, by reason.', reasons),
    ];
  }

  #upstreamFamilies(upstream: HttpUpstream | undefined): MetricFamily[] {
    const counts = (upstream?.counts ?? []).map(
      ({ value, ...labels }): MetricValue => ({ value, labels }),
    );
    return [
      counter('daybook_upstream_requests_total', 'Requests to the upstream, by outcome.', counts),
      gauge(
        'daybook_upstream_waiting',
        'Requests that wait for the upstream.',
        this.#own(upstream?.waiting ?? 0),
      ),
    ];
  }

  #serverFamilies({ behindVersions, behindMs, moves }: ReadServer): MetricFamily[] {
    return [
      gauge(
        'daybook_store_behind_versions',
        'Versions that the server that is read from is behind the newest known.',
        this.#own(Number(behindVersions)),
      ),
      gauge(
        'daybook_store_behind_seconds',
        'For how long a version has been known that the server that is read from lacks.',
        this.#own(behindMs / 1_000),
      ),
      counter('daybook_store_moves_total', 'Moves to another server.', moves),
    ];
  }

  #own(value: number): readonly MetricValue[] {
    return [{ value, labels: this.#labels }];
  }
}

/** Empty where the system does not tell; only Linux does. */
function ownMemoryBytes(): number[] {
  try {
    const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(
      readFileSync('/proc/self/status', 'latin1'),
    )!;
    return [Number(kibibytes) * 1_024];
  } catch {
    return [];
  }
}

/** Counts requests; as many counts as there are endpoints, methods and statuses, however many requests. */
class RequestMeter {
  readonly #registry = new promClient.Registry();
  readonly #requests = new promClient.Counter({
    name: 'daybook_requests_total',
    help: 'Requests by operation, method and status.',
    labelNames: ['operation', 'method', 'status'],
    registers: [this.#registry],
  });
  readonly #durations = new promClient.Histogram({
    name: 'daybook_request_duration_seconds',
    help: 'Time from reading the head of a request until its answer was taken.',
    labelNames: ['operation'],
    buckets: [...LATENCY_BUCKETS_SECS],
    registers: [this.#registry],
  });

  readonly observe: RequestObserver = ({ request, operationId, status, elapsedMs }) => {
    const operation = operationId === '' ? NO_OPERATION : operationId;
    const method = METHODS.find((known) => known === request.method) ?? OTHER_METHOD;
    this.#requests.inc({ operation, method, status });
    this.#durations.observe({ operation }, elapsedMs / 1_000);
  };

  families(): Promise<readonly MetricFamily[]> {
    return familiesOf(this.#registry);
  }
}
