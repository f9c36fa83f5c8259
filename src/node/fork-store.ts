/** The store of a node that serves a fork (docs/fork.md), created if missing, with or without upstream. */
import type { Logger } from 'pino';
import { FORK_LIMITS, ForkClient } from '../state/fork/fork-client.ts';
import { forkSource } from '../state/fork/fork-source.ts';
import { forkAnchor, makeFork } from '../state/fork/make-fork.ts';
import { type ForkAnchor, ForkRecorder, offlineSource } from '../state/fork/recorder.ts';
import { LedgerError } from '../state/ledger-error.ts';
import type { OpenSource } from '../state/source.ts';
import { FORK_LAYOUT } from '../store/columns/fork-columns.ts';
import { isPostgresUrl } from '../store/postgres/location.ts';
import { openSqliteReader, openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store, StoreReader } from '../store/store.ts';
import { NodeError } from './node-error.ts';
import { assertLocation, assertUnusedLocation, emptyStoreError, hasStore } from './open-store.ts';
import type { NodeSettings } from './settings/settings.ts';
import { namedBase } from './settings/upstream-url.ts';
import type { StopList } from './shutdown.ts';

interface ForkStore {
  readonly store: StoreReader;
  readonly openSource: OpenSource;
}

interface ForkRequest {
  readonly base: URL;
  /** Absent: the newest one, or that of the existing fork. */
  readonly version: bigint | undefined;
}

/** Settings that contradict a fork. */
const CONFLICTING_SETTINGS = [
  ...(['follow', 'upstream', 'waypoint', 'bootstrap', 'standby', 'produce'] as const),
  ...(['keepVersions', 'keepSeconds', 'keepAccounts', 'keepAccountsFile'] as const),
];

/** @throws NodeError `bad_setting`, `no_ledger`, `data_not_usable`, `fork_failed` */
export async function openForkStore(
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<ForkStore> {
  const request = forkRequest(settings);
  const { data } = settings;
  if (settings.offline || request === undefined) {
    const store = openSqliteReader({ directory: data, layout: FORK_LAYOUT });
    stopList.add('the store', () => store.close());
    const anchor = await forkAnchor(store);
    if (anchor === undefined) throw emptyStoreError(data);
    checkVersion(data, anchor, request?.version);
    return { store, openSource: forkSource(offlineSource(data)) };
  }
  if (!(await hasStore(data))) await assertUnusedLocation(data);
  const store = await openSqliteStore({ directory: data, layout: FORK_LAYOUT });
  stopList.add('the store', () => store.close());
  const { forkRequestsPerSecond: requestsPerSecond } = settings;
  const client = new ForkClient(request.base, { ...FORK_LIMITS, requestsPerSecond });
  stopList.add('the upstream of the fork', () => client.close());
  const recorder = await openRecorder(store, client, request, data);
  const { origin } = request.base;
  logger.info(
    { upstream: origin },
    'serving a fork: what it does not have is asked of its upstream',
  );
  return { store, openSource: forkSource(recorder) };
}

async function openRecorder(
  store: Store,
  client: ForkClient,
  { version }: ForkRequest,
  data: string,
): Promise<ForkRecorder> {
  try {
    const known = await forkAnchor(store);
    if (known !== undefined) checkVersion(data, known, version);
    const recorder = new ForkRecorder(
      store,
      client,
      known ?? (await makeFork(store, client, version)),
    );
    await recorder.checkHistory();
    return recorder;
  } catch (cause) {
    if (!(cause instanceof LedgerError)) throw cause;
    const advice = '; with --offline a fork answers what it has recorded';
    throw new NodeError('fork_failed', cause.message + advice, { cause });
  }
}

/** @throws NodeError `bad_setting` for a version that the fork is not at */
function checkVersion(data: string, anchor: ForkAnchor, requested: bigint | undefined): void {
  if (requested === undefined || requested === anchor.version) return;
  throw badSetting(
    `${data} is a fork at version ${anchor.version}, not ${requested}: give another folder`,
  );
}

/** @returns `undefined` if no node is named: a fork without its upstream needs none */
function forkRequest(settings: NodeSettings): ForkRequest | undefined {
  const { fork, data, workers } = settings;
  assertForkFolder(data);
  const conflicting = CONFLICTING_SETTINGS.find((name) => Boolean(settings[name]));
  if (conflicting !== undefined)
    throw badSetting(`a fork does not go together with ${conflicting}`);
  if (workers > 1) throw badSetting('a fork is served by one process: --workers 1');
  if (fork === '') return undefined;
  const [, url = '', version] = /^(.*?)(?:@(\d{1,20}))?$/s.exec(fork) ?? [];
  const base = namedBase(url, 'fork: ');
  if (/@[^/]*$/.test(url)) throw badSetting('fork: after the @ there must be a version, a number');
  return { base, version: version === undefined ? undefined : BigInt(version) };
}

/** @throws NodeError `bad_setting` */
export function assertForkFolder(data: string): void {
  if (isPostgresUrl(data)) throw badSetting('a fork is a folder: it cannot be in PostgreSQL');
  assertLocation(data);
}

function badSetting(message: string): NodeError {
  return new NodeError('bad_setting', message, { exitCode: 2 });
}
