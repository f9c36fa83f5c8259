/** The JSON of a trace, for its readers (docs/traces.md). It has no imports, so a web page can use it. */
interface Gas {
  readonly own: number;
  readonly total: number;
}

export interface TraceStep {
  readonly kind: 'call' | 'event' | 'read' | 'write';
  readonly function?: string;
  readonly type_arguments?: readonly string[];
  readonly is_native?: true;
  readonly arguments?: readonly TraceValue[];
  readonly results?: readonly TraceValue[];
  readonly calls?: number;
  readonly aborted?: true;
  readonly hidden_calls?: number;
  readonly gas?: Gas;
  readonly steps?: readonly TraceStep[];
  readonly operation?: string;
  readonly address?: string;
  readonly handle?: string;
  readonly key_type?: string;
  readonly key?: unknown;
  readonly type?: string;
  readonly data?: unknown;
  readonly exists?: boolean;
  readonly value?: unknown;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface TraceValue {
  readonly type: string | null;
  readonly value?: unknown;
}

export interface TraceFailure {
  readonly status: string;
  readonly code?: string;
  readonly reason?: string;
  readonly description?: string;
  readonly function?: string;
  readonly offset?: number;
  readonly instructions?: readonly { readonly offset: number; readonly text: string }[];
}

export interface TracePart {
  readonly name: string;
  readonly gas: Gas;
  readonly failure?: TraceFailure;
  readonly steps: readonly TraceStep[];
}

export interface Trace {
  readonly version: string;
  readonly hash?: string;
  readonly type: string;
  readonly success: boolean;
  readonly vm_status: string;
  readonly is_recorded?: boolean;
  readonly gas: {
    readonly used?: string;
    readonly unit: number;
    readonly execution: number;
    readonly io: number;
    readonly storage: number;
    readonly storage_fee_octas: string;
  };
  readonly parts: readonly TracePart[];
  readonly writes: readonly {
    readonly state_key_hash: string;
    readonly kind: string;
    readonly address?: string;
    readonly type?: string;
    readonly group?: string;
    readonly module?: string;
    readonly handle?: string;
    readonly raw_key?: string;
    readonly key?: unknown;
    readonly before?: unknown;
    readonly after?: unknown;
    readonly bytes_before?: number;
    readonly bytes_after?: number;
    readonly deposit_octas?: string;
  }[];
  readonly events: readonly { readonly type: string; readonly data?: unknown }[];
  readonly functions: readonly {
    readonly function: string;
    readonly calls: number;
    readonly own: number;
    readonly total: number;
  }[];
  readonly instructions: readonly {
    readonly name: string;
    readonly count: number;
    readonly gas: number;
  }[];
  readonly omitted: { readonly steps: number; readonly values: number };
}
