/** Messages between the primary and its workers, sent as JSON. */
import type { MetricFamily } from '../metrics/metric-family.ts';
import type { NodeErrorCode } from '../node-error.ts';
import type { NodeSettings } from '../settings/settings.ts';

export interface WorkerLoad {
  /** Share of the time since the last report that its event loop was busy, 0 to 1. */
  readonly utilization: number;
  readonly connections: number;
}

export interface StartMessage {
  readonly kind: 'start';
  readonly settings: NodeSettings;
  /** From 1; a worker that replaces another has the same number. */
  readonly number: number;
}

export type PrimaryMessage =
  | StartMessage
  /** Finish running requests, and exit. */
  | { readonly kind: 'stop' }
  /** Close this many connections after their next answer. */
  | { readonly kind: 'close'; readonly connections: number }
  /** Send your metrics. */
  | { readonly kind: 'metrics' };

/** A worker answers requests. */
export interface ReadyMessage {
  readonly kind: 'ready';
  readonly port: number;
  readonly chainId: number;
  /** Decimal. */
  readonly version: string;
}

export type WorkerMessage =
  /** It receives messages from now on; those sent before are lost. */
  | { readonly kind: 'loaded' }
  | ReadyMessage
  /** It could not start, and trying again does not help. */
  | {
      readonly kind: 'failed';
      readonly code: NodeErrorCode;
      readonly message: string;
      readonly exitCode: 1 | 2;
    }
  | ({ readonly kind: 'load' } & WorkerLoad)
  /** When the primary wants them, and at the worker's end. */
  | { readonly kind: 'metrics'; readonly families: readonly MetricFamily[] };
