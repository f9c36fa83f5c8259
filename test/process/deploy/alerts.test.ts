/**
 * The alert rules of docs/monitoring and the scrape configuration of docs/metrics.md, checked by Prometheus's own tool.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ROOT } from '../../repo/source-tree.ts';
import { temporaryFolder } from '../command.ts';
import { hasProgram } from './installed.ts';

const run = promisify(execFile);
const isInstalled = hasProgram('promtool', '--version');
const skipped = isInstalled ? '' : ' (skipped: there is no promtool)';

const RULES = join(ROOT, 'docs/monitoring/prometheus-alerts.yaml');

/** Values of metrics, one per minute: `FIRST+STEP`. */
type Series = Readonly<Record<string, string>>;

const HEALTHY: Series = {
  'up{job="daybook",instance="a"}': '1',
  'daybook_info{instance="a"}': '1',
  'daybook_follower_running{instance="a"}': '1',
  'daybook_follower_upstream_version{instance="a"}': '1000+600',
  'daybook_ledger_version{instance="a"}': '900+600',
  'daybook_ledger_age_seconds{instance="a"}': '2',
  'daybook_follower_faults_total{instance="a"}': '3',
  'node_filesystem_avail_bytes{instance="a",mountpoint="/var/lib/daybook"}': '20',
  'node_filesystem_size_bytes{instance="a",mountpoint="/var/lib/daybook"}': '100',
  'daybook_store_standby_wait_seconds{instance="a"}': '0',
  'daybook_requests_total{instance="a",status="200"}': '0+60000',
  'daybook_requests_total{instance="a",status="500"}': '0',
  'daybook_requests_total{instance="a",status="503"}': '0+30',
  'daybook_refused_requests_total{instance="a",work="read"}': '0',
  'daybook_request_duration_seconds_bucket{instance="a",le="0.5"}': '0+60',
  'daybook_request_duration_seconds_bucket{instance="a",le="+Inf"}': '0+60',
  'daybook_ledger_oldest_version{instance="a"}': '500+600',
  'daybook_pruner_cleared_below_version{instance="a"}': '0+600',
  'daybook_worker_restarts_total{instance="a"}': '1',
  'nodejs_eventloop_lag_p99_seconds{instance="a",process="1"}': '0.01',
  'process_open_fds{instance="a",process="1"}': '100',
  'process_max_fds{instance="a",process="1"}': '65536',
};

/** Changes of the series, by the alert that they cause. */
const TROUBLE: Readonly<Record<string, Series>> = {
  DaybookDown: { 'up{job="daybook",instance="a"}': '0' },
  DaybookFollowingStopped: { 'daybook_follower_running{instance="a"}': '0' },
  DaybookBehind: { 'daybook_ledger_version{instance="a"}': '900' },
  DaybookNotGrowing: { 'daybook_ledger_age_seconds{instance="a"}': '0+60' },
  DaybookFollowerFaults: { 'daybook_follower_faults_total{instance="a"}': '0+1' },
  DaybookDiskFull: {
    'node_filesystem_avail_bytes{instance="a",mountpoint="/var/lib/daybook"}': '9',
  },
  DaybookStandbysAway: { 'daybook_store_standby_wait_seconds{instance="a"}': '16' },
  DaybookServerErrors: { 'daybook_requests_total{instance="a",status="500"}': '0+1' },
  DaybookUnavailable: { 'daybook_requests_total{instance="a",status="503"}': '0+90' },
  DaybookOverloaded: {
    'daybook_refused_requests_total{instance="a",work="read"}': '0+90',
    'daybook_requests_total{instance="a",status="503"}': '0+90',
  },
  DaybookSlow: {
    'daybook_request_duration_seconds_bucket{instance="a",le="0.5"}': '0+50',
    'daybook_request_duration_seconds_bucket{instance="a",le="5"}': '0+60',
  },
  DaybookPrunerBehind: { 'daybook_pruner_cleared_below_version{instance="a"}': '0+500' },
  DaybookWorkersRestarting: { 'daybook_worker_restarts_total{instance="a"}': '0+1' },
  DaybookEventLoopBlocked: { 'nodejs_eventloop_lag_p99_seconds{instance="a",process="1"}': '0.6' },
  DaybookFileDescriptors: { 'process_open_fds{instance="a",process="1"}': '60000' },
};

function testOf(alert: string | undefined): object {
  // Most need minutes; a pruner may lag for six hours.
  const minutes = alert === undefined || alert === 'DaybookPrunerBehind' ? 480 : 60;
  const series = { ...HEALTHY, ...(alert === undefined ? {} : TROUBLE[alert]) };
  return {
    name: alert ?? 'healthy',
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({
      series: name,
      values: `${values.includes('+') ? values : `${values}+0`}x${minutes}`,
    })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${minutes}m`,
        exp_samples: alert === undefined ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
      },
    ],
  };
}

describe.skipIf(!isInstalled)(`Prometheus${skipped}`, () => {
  const folder = temporaryFolder();

  it('takes the scrape configuration with the rules', async () => {
    const text = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8');
    const configuration = /```yaml\n(scrape_configs:[\s\S]*?)```/.exec(text)![1]!;
    const path = join(folder, 'prometheus.yml');
    writeFileSync(path, `${configuration}rule_files: ['${RULES}']\n`);
    await run('promtool', ['check', 'config', path]);
  });

  it('fires each alert in its trouble, and no other, and none for a healthy node', async () => {
    const { groups } = parse(readFileSync(RULES, 'utf8')) as {
      groups: { rules: { alert: string }[] }[];
    };
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    const path = join(folder, 'test.yml');
    const tests = [undefined, ...alerts].map(testOf);
    writeFileSync(path, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
    await run('promtool', ['test', 'rules', path]);
  });
});
