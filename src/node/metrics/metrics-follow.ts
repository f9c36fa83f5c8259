/** How following another node goes. */
import type { Following } from '../follow.ts';
import { counter, gauge, type MetricFamily, plain } from './metrics-family.ts';

/** A follower, now. How far it is behind is the upstream's version less `daybook_ledger_version`. */
export function followFamilies(following: Following): MetricFamily[] {
  const upstream = following.upstreamVersion();
  const { transactions, commits, faults, pageBytes } = following.counters;
  return [
    gauge(
      'daybook_follower_running',
      '1 while it follows, 0 after it has stopped for good.',
      plain(following.isRunning() ? 1 : 0),
    ),
    gauge(
      'daybook_follower_upstream_version',
      'Newest version of the followed node, as last heard.',
      upstream === undefined ? [] : plain(Number(upstream)),
    ),
    counter('daybook_follower_transactions_total', 'Transactions followed.', plain(transactions)),
    counter('daybook_follower_commits_total', 'Commits of the follower.', plain(commits)),
    counter('daybook_follower_faults_total', 'Faults that it began again after.', plain(faults)),
    counter('daybook_follower_received_bytes_total', 'Bytes of pages.', plain(pageBytes)),
  ];
}
