/** Messages between the primary and its workers, sent as JSON. */

import type { MetricFamily } from '../metrics/metrics-family.ts';
import type { NodeErrorCode } from '../node-error.ts';
import type { NodeSettings } from '../settings/settings.ts';

/** How busy a worker is. */
export interface WorkerLoad {
  /** Share of the time since the last report that its event loop worked, 0 to 1. */
  readonly utilization: number;
  readonly connections: number;
}

/** From the primary. */
export type WorkerOrder =
  | {
      readonly kind: 'start';
      readonly settings: NodeSettings;
      /** Its place among the workers, from 1; another one in this place has it after its end. */
      readonly place: number;
    }
  /** Finish what is in flight, and end. */
  | { readonly kind: 'stop' }
  /** Close so many connections after their next answer. */
  | { readonly kind: 'close'; readonly connections: number }
  | { readonly kind: 'metrics'; readonly question: number };

/** From a worker. */
export type WorkerReport =
  /** It listens for orders; those sent before are lost. */
  | { readonly kind: 'hello' }
  | {
      readonly kind: 'ready';
      readonly port: number;
      readonly chainId: number;
      /** Decimal. */
      readonly version: string;
    }
  /** It could not start, and trying again does not help. */
  | {
      readonly kind: 'failed';
      readonly code: NodeErrorCode;
      readonly message: string;
      readonly exitCode: 1 | 2;
    }
  | ({ readonly kind: 'load' } & WorkerLoad)
  /** An answer, or at its end one without a question. */
  | {
      readonly kind: 'metrics';
      readonly question: number | null;
      readonly families: readonly MetricFamily[];
    };
