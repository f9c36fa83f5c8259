/**
 * Metrics as plain data, which goes over a process's channel: what prom-client adds up over processes and writes as
 * text. Counting itself is done in plain numbers; a request pays for no label and no registry.
 */

/** One value of a metric. */
export interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Of a histogram's parts: the metric's name with `_bucket`, `_sum`, `_count`. */
  readonly metricName?: string;
}

/** A metric with its values; values with the same labels are added up over processes. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: 'sum';
  readonly values: readonly MetricValue[];
}

/** A metric that goes up and down. */
export function gauge(name: string, help: string, values: readonly MetricValue[]): MetricFamily {
  return { name, help, type: 'gauge', aggregator: 'sum', values };
}

/** A metric that only grows. */
export function counter(name: string, help: string, values: readonly MetricValue[]): MetricFamily {
  return { name, help, type: 'counter', aggregator: 'sum', values };
}

/** A value without labels. */
export function plain(value: number): readonly MetricValue[] {
  return [{ value, labels: {} }];
}

/**
 * The counters and histograms among families, added to those of before: what of processes that have ended still
 * counts, so that sums never fall.
 */
export function addLasting(
  before: readonly MetricFamily[],
  families: readonly MetricFamily[],
): MetricFamily[] {
  const sums = new Map(before.map((family) => [family.name, family]));
  for (const family of families) {
    if (family.type === 'gauge') continue;
    const known = sums.get(family.name);
    sums.set(family.name, known === undefined ? family : addValues(known, family));
  }
  return [...sums.values()];
}

function addValues(family: MetricFamily, other: MetricFamily): MetricFamily {
  const values = new Map(family.values.map((value) => [valueKey(value), value]));
  for (const added of other.values) {
    const key = valueKey(added);
    const known = values.get(key);
    values.set(key, known === undefined ? added : { ...known, value: known.value + added.value });
  }
  return { ...family, values: [...values.values()] };
}

/** Labels are always written in the same order. */
function valueKey({ metricName = '', labels }: MetricValue): string {
  return JSON.stringify([metricName, labels]);
}
