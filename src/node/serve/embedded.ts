/**
 * A node inside another program, for tests of SDKs and applications: free port, real store, deterministic sample ledger
 * (or any ledger folder), stopped cleanly. The package's entry exports it as `startNode`.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Overrides } from '../../ledger/overrides/overrides.ts';
import { storeFileOf } from '../../store/sqlite/files.ts';
import { NodeError } from '../node-error.ts';
import type { SampleRequest } from '../prebuilt-sample.ts';
import { assertKnownNames, type NodeSettings, nodeSettingsWith } from '../settings/settings.ts';
import { startNode } from './start-node.ts';
import { callView, type ViewFunctionCall } from './view-call.ts';

/** Settings that follow from the other options. */
const DERIVED_SETTINGS = ['data', 'fork', 'sample', 'listen', 'workers'] as const;
type DerivedSetting = (typeof DERIVED_SETTINGS)[number];

/** How a node inside another program is started; everything may be left out. */
export interface EmbeddedNodeOptions {
  /** Folder of an existing ledger. Absent: a sample ledger. */
  readonly data?: string | undefined;
  /**
   * URL of a node, with `@VERSION` for another version than the newest: its ledger, recorded in the folder `data`.
   * With the setting `offline` the folder is enough. Or a packed fork, which needs neither.
   */
  readonly fork?: string | PackedFork | undefined;
  /** Settings of the sample ledger, overriding those of the small one. */
  readonly sample?: Partial<SampleRequest> | undefined;
  /** Where sample ledgers stay from one start to the next; absent: the system's temporary folder. */
  readonly cacheFolder?: string | undefined;
  /** Port to listen on; absent or 0: a free one. */
  readonly port?: number | undefined;
  /** Any settings of `daybook serve`, e.g. `{ headerPrefix: 'X-Aptos' }`. */
  readonly settings?: Partial<Omit<NodeSettings, DerivedSetting>> | undefined;
}

const OPTIONS: Record<keyof EmbeddedNodeOptions, true> = {
  ...{ data: true, fork: true, sample: true, cacheFolder: true, port: true, settings: true },
};

/** What `daybook fork pack` has written; the node is offline. */
export interface PackedFork {
  readonly pack: string;
}

export interface EmbeddedNode {
  /** The URL of the interface, such as `http://127.0.0.1:40123/v1`. */
  readonly url: string;
  readonly chainId: number;
  readonly ledgerVersion: bigint;
  /**
   * The values that a view function returns, in the form of the API.
   * @throws ViewCallError as a client of the API is refused
   */
  view(call: ViewFunctionCall): Promise<unknown[]>;
  /** Finishes requests in flight and releases port and files. */
  stop(): Promise<void>;
}

export interface ForkedNode extends EmbeddedNode {
  readonly overrides: Overrides;
}

export type ForkedNodeOptions = EmbeddedNodeOptions &
  ({ readonly fork: string | PackedFork } | { readonly settings: { readonly offline: true } });

type AnyNode = EmbeddedNode & Partial<ForkedNode>;

/**
 * Starts a node in this process; resolves when it answers. Nothing is logged unless `settings.logLevel` is set.
 * @throws NodeError as `daybook serve` does
 */
export async function startEmbeddedNode(options: EmbeddedNodeOptions = {}): Promise<AnyNode> {
  assertKnownNames('option', options, OPTIONS);
  const derived = DERIVED_SETTINGS.find((name) => Object.hasOwn(options.settings ?? {}, name));
  if (derived !== undefined) {
    const message = `the setting ${derived} follows from the options data, fork, sample and port`;
    throw new NodeError('bad_setting', message);
  }
  const { fork = '' } = options;
  const isPacked = typeof fork !== 'string';
  const settings = await nodeSettingsWith({
    logLevel: 'silent',
    ...options.settings,
    ...(isPacked ? { offline: true } : { fork }),
    listen: `127.0.0.1:${options.port ?? 0}`,
    workers: 1,
    // A named folder without a ledger is an error.
    sample: false,
  });
  if (isPacked) {
    if (options.data !== undefined) {
      throw new NodeError('bad_setting', 'a packed fork has no folder: leave out the option data');
    }
    const { unpackFork } = await import('../fork-pack.ts');
    return await startOnCopy(settings, (copy) => unpackFork(fork.pack, copy));
  }
  if (fork !== '' && options.data === undefined) {
    throw new NodeError('bad_setting', 'a fork is recorded in a folder: give the option data');
  }
  if (options.data !== undefined) return await startInFolder({ ...settings, data: options.data });
  const sample = await cachedSample(options);
  if (settings.produce === 0) return await startInFolder({ ...settings, data: sample });
  // Others read the cached one, which must match its name.
  return await startOnCopy(settings, async (copy) => cpSync(sample, copy, { recursive: true }));
}

/** Starts a node on a folder removed at its end. @param fill creates a ledger in the folder */
async function startOnCopy(
  settings: NodeSettings,
  fill: (folder: string) => Promise<unknown>,
): Promise<AnyNode> {
  const copy = mkdtempSync(join(tmpdir(), 'daybook-copy-'));
  const removeCopy = (): void => rmSync(copy, { recursive: true, force: true });
  try {
    await fill(copy);
    const node = await startInFolder({ ...settings, data: copy });
    return { ...node, stop: () => node.stop().finally(removeCopy) };
  } catch (error) {
    removeCopy();
    throw error;
  }
}

async function startInFolder(settings: NodeSettings): Promise<AnyNode> {
  const { ready, overrides, stop } = await startNode(settings, true);
  const { url, chain_id: chainId, ledger_version: version } = ready;
  const view = (call: ViewFunctionCall) => callView(url, call);
  const ledgerVersion = BigInt(version);
  return { url, chainId, ledgerVersion, view, stop, ...(overrides && { overrides }) };
}

/** The folder of a sample ledger that is made once and then only read, by any number of processes. */
async function cachedSample({ sample, cacheFolder = tmpdir() }: EmbeddedNodeOptions) {
  // Loaded here: a node on a folder needs no generator.
  const { sampleName } = await import('../prebuilt-sample.ts');
  const { makeSample, SMALL_SAMPLE } = await import('../sample.ts');
  const request = { ...SMALL_SAMPLE, ...sample };
  const folder = join(cacheFolder, sampleName(request));
  // Cleaners of temporary folders may leave the folder without its file.
  const exists = (): boolean => existsSync(storeFileOf(folder));
  if (exists()) return folder;
  mkdirSync(cacheFolder, { recursive: true });
  // Made elsewhere and moved when complete: two processes may do so at once, and one may be killed.
  const temporary = mkdtempSync(join(cacheFolder, 'daybook-making-'));
  try {
    await makeSample(temporary, request);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!exists()) throw error;
  }
  return folder;
}
