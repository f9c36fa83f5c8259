/** What the primary and its workers say to each other. JSON goes over the channel between them. */

import type { MetricFamily } from '../metrics/metrics-family.ts';
import type { NodeErrorCode } from '../node-error.ts';
import type { NodeSettings } from '../settings/settings.ts';
import type { WorkerLoad } from './cluster-balance.ts';

/** From the primary. */
export type WorkerOrder =
  | {
      readonly kind: 'start';
      readonly settings: NodeSettings;
      /** Its place among the workers, from 1; another one in this place has it after its end. */
      readonly place: number;
    }
  /** Finish what is under way, and end. */
  | { readonly kind: 'stop' }
  /** Let so many connections go after their next answer (cluster-balance.ts). */
  | { readonly kind: 'close'; readonly connections: number }
  | { readonly kind: 'metrics'; readonly question: number };

/** From a worker. */
export type WorkerReport =
  /** It listens for orders; what is said before is lost. */
  | { readonly kind: 'hello' }
  | {
      readonly kind: 'ready';
      readonly port: number;
      readonly chainId: number;
      /** Decimal. */
      readonly version: string;
    }
  /** It could not start, and trying again is no help. */
  | {
      readonly kind: 'failed';
      readonly code: NodeErrorCode;
      readonly message: string;
      readonly exitCode: 1 | 2;
    }
  | ({ readonly kind: 'load' } & WorkerLoad)
  /** An answer, or a last word without a question. */
  | {
      readonly kind: 'metrics';
      readonly question: number | null;
      readonly families: readonly MetricFamily[];
    };
