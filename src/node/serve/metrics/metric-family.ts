/**
 * Metrics as plain data: workers send them over their channel, prom-client adds them up over processes and writes the
 * text.
 */

export interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** A histogram has several: its name with `_bucket`, `_sum`, `_count`. */
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

type Measured = number | bigint | readonly MetricValue[];

const familyOf =
  (type: MetricFamily['type']) =>
  (name: string, help: string, measured: Measured): MetricFamily => {
    const values =
      typeof measured === 'object' ? measured : [{ value: Number(measured), labels: {} }];
    return { name, help, type, aggregator: 'sum', values };
  };

export const gauge = familyOf('gauge');
export const counter = familyOf('counter');

/**
 * The counters and histograms among families, added to previous ones: counts of exited processes remain, so that sums
 * never decrease.
 */
export function addLasting(
  before: readonly MetricFamily[],
  families: readonly MetricFamily[],
): MetricFamily[] {
  const sums = new Map(before.map((family) => [family.name, family]));
  for (const family of families) {
    if (family.type === 'gauge') continue;
    const earlier = sums.get(family.name)?.values ?? [];
    const values = new Map(earlier.map((value) => [valueKey(value), value]));
    for (const added of family.values) {
      const key = valueKey(added);
      values.set(key, { ...added, value: added.value + (values.get(key)?.value ?? 0) });
    }
    sums.set(family.name, { ...family, values: [...values.values()] });
  }
  return [...sums.values()];
}

/** Labels are always written in the same order. */
function valueKey({ metricName = '', labels }: MetricValue): string {
  return JSON.stringify([metricName, labels]);
}
