/** What one process of a node tells of itself: requests, refusals, caches, memory, its event loop. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type Admission, WORK_KINDS } from '../../api/http/overload.ts';
import type { CacheSize } from '../../cache.ts';
import { counter, gauge, type MetricFamily, type MetricValue } from './metrics-family.ts';
import { RequestMeter } from './metrics-requests.ts';

/** How often the event loop is looked at, in milliseconds. */
const LOOP_RESOLUTION_MS = 10;
const NANOSECONDS_PER_SECOND = 1e9;
const LOOP_QUANTILES = [0.5, 0.99, 1] as const;

/** What a process that answers requests lets be seen. */
export interface ServingParts {
  readonly admission: Admission;
  cacheSizes(): readonly CacheSize[];
}

/** The metrics of this process. */
export class ProcessMetrics {
  readonly requests = new RequestMeter();
  readonly #labels: { readonly process: string };
  readonly #loopDelay: IntervalHistogram;
  #serving: ServingParts | undefined;

  /** @param name `primary`, or the worker's number: the label `process` */
  constructor(name: string) {
    this.#labels = { process: name };
    this.#loopDelay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
    this.#loopDelay.enable();
  }

  /** Says that this process answers requests. */
  watch(serving: ServingParts): void {
    this.#serving = serving;
  }

  /** Everything, now. The event loop's delay is that since the last time. */
  families(): MetricFamily[] {
    const families = this.#processFamilies();
    if (this.#serving === undefined) return families;
    return [...this.requests.families(), ...this.#servingFamilies(this.#serving), ...families];
  }

  /** Stops measuring. */
  stop(): void {
    this.#loopDelay.disable();
  }

  #processFamilies(): MetricFamily[] {
    const labels = this.#labels;
    const { rss, heapUsed, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const loop = LOOP_QUANTILES.map((quantile): MetricValue => {
      // What is measured is the time between two looks, so the wanted time comes off.
      const betweenSecs = this.#loopDelay.percentile(quantile * 100) / NANOSECONDS_PER_SECOND;
      const value = Math.max(0, betweenSecs - LOOP_RESOLUTION_MS / 1_000);
      return { value, labels: { ...labels, quantile } };
    });
    this.#loopDelay.reset();
    const one = (value: number): readonly MetricValue[] => [{ value, labels }];
    return [
      gauge('daybook_resident_memory_bytes', 'Resident memory, mapped store included.', one(rss)),
      gauge('daybook_heap_used_bytes', 'JavaScript heap in use.', one(heapUsed)),
      gauge('daybook_external_memory_bytes', 'Buffers outside the heap.', one(external)),
      gauge('daybook_event_loop_delay_seconds', 'Lateness of the event loop.', loop),
      counter('daybook_cpu_seconds_total', 'Processor time.', one((user + system) / 1e6)),
    ];
  }

  #servingFamilies({ admission, cacheSizes }: ServingParts): MetricFamily[] {
    const labels = this.#labels;
    const sizes = cacheSizes();
    const refused = WORK_KINDS.map(
      (work): MetricValue => ({ value: admission.refusedCount(work), labels: { work } }),
    );
    const ofCaches = (value: (size: CacheSize) => number): MetricValue[] =>
      sizes.map((size) => ({ value: value(size), labels: { ...labels, cache: size.name } }));
    return [
      counter('daybook_refused_requests_total', 'Requests refused by overload.', refused),
      gauge('daybook_unsent_bytes', 'Bytes of large answers that clients have yet to take.', [
        { value: admission.unsentBytes, labels },
      ]),
      gauge(
        'daybook_cache_bytes',
        'Memory of caches, estimated.',
        ofCaches(({ bytes }) => bytes),
      ),
      gauge(
        'daybook_cache_entries',
        'Entries of caches.',
        ofCaches(({ entries }) => entries),
      ),
    ];
  }
}
