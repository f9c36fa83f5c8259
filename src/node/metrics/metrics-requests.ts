/** Counts of requests in one process: by operation, method and status, and how long they took. */
import type { RequestObserver } from '../../api/http/request-observer.ts';
import { counter, type MetricFamily, type MetricValue } from './metrics-family.ts';

/** Upper bounds of the latency histogram's buckets, in seconds. */
const LATENCY_BUCKETS_SECS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
/** Methods that have a label of their own; the parser knows thirty more. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS'];
const OTHER_METHOD = 'other';
/** What requests are counted under that no endpoint answered. */
const NO_OPERATION = 'none';
/** Statuses have three digits: method and status make one number, a key without a text. */
const METHOD_FACTOR = 1_000;
const REQUESTS = 'daybook_requests_total';
const DURATION = 'daybook_request_duration_seconds';

interface OperationCounts {
  /** By place in METHODS times METHOD_FACTOR plus status. */
  readonly outcomes: Map<number, number>;
  /** Requests in each bucket, not added up; the last one is for what took longer. */
  readonly buckets: number[];
  sumSecs: number;
}

/** Counts requests; as many counts as there are endpoints, methods and statuses, however many requests. */
export class RequestMeter {
  readonly #operations = new Map<string, OperationCounts>();

  /** Counts a request. */
  readonly observe: RequestObserver = ({ request, operationId, status, elapsedMs }) => {
    const counts = this.#countsOf(operationId);
    const method = METHODS.indexOf(request.method ?? '');
    const key = (method === -1 ? METHODS.length : method) * METHOD_FACTOR + status;
    counts.outcomes.set(key, (counts.outcomes.get(key) ?? 0) + 1);
    const elapsedSecs = elapsedMs / 1_000;
    let bucket = 0;
    while (
      bucket < LATENCY_BUCKETS_SECS.length &&
      elapsedSecs > (LATENCY_BUCKETS_SECS[bucket] ?? 0)
    ) {
      bucket += 1;
    }
    counts.buckets[bucket]! += 1;
    counts.sumSecs += elapsedSecs;
  };

  /** What was counted so far. */
  families(): MetricFamily[] {
    const requests: MetricValue[] = [];
    const durations: MetricValue[] = [];
    for (const [operationId, counts] of this.#operations) {
      const operation = operationId === '' ? NO_OPERATION : operationId;
      for (const [key, value] of counts.outcomes) {
        const method = METHODS[Math.floor(key / METHOD_FACTOR)] ?? OTHER_METHOD;
        requests.push({ value, labels: { operation, method, status: key % METHOD_FACTOR } });
      }
      durations.push(...histogramValues(operation, counts));
    }
    return [
      counter(REQUESTS, 'Requests by operation, method and status.', requests),
      {
        name: DURATION,
        help: 'Time from reading the head of a request until its answer was taken.',
        type: 'histogram',
        aggregator: 'sum',
        values: durations,
      },
    ];
  }

  #countsOf(operationId: string): OperationCounts {
    let counts = this.#operations.get(operationId);
    if (counts === undefined) {
      const buckets = new Array<number>(LATENCY_BUCKETS_SECS.length + 1).fill(0);
      counts = { outcomes: new Map(), buckets, sumSecs: 0 };
      this.#operations.set(operationId, counts);
    }
    return counts;
  }
}

/** Buckets as the text format wants them: each holds all that is below it, too. */
function histogramValues(operation: string, { buckets, sumSecs }: OperationCounts): MetricValue[] {
  let count = 0;
  const values = buckets.map((inBucket, index): MetricValue => {
    count += inBucket;
    const le = LATENCY_BUCKETS_SECS[index] ?? '+Inf';
    return { value: count, labels: { operation, le }, metricName: `${DURATION}_bucket` };
  });
  const labels = { operation };
  values.push({ value: sumSecs, labels, metricName: `${DURATION}_sum` });
  values.push({ value: count, labels, metricName: `${DURATION}_count` });
  return values;
}
