/** The JSON of traces, as tests look at it (docs/traces.md). */
export interface Gas {
  readonly own: number;
  readonly total: number;
}

export interface Step {
  readonly kind: 'call' | 'event' | 'read' | 'write';
  readonly function?: string;
  readonly arguments?: readonly { readonly type: string; readonly value?: unknown }[];
  readonly results?: readonly { readonly type: string; readonly value?: unknown }[];
  readonly calls?: number;
  readonly aborted?: true;
  readonly hidden_calls?: number;
  readonly gas?: Gas;
  readonly steps?: readonly Step[];
  readonly operation?: string;
  readonly type?: string;
  readonly data?: unknown;
  readonly exists?: boolean;
  readonly value?: unknown;
  readonly before?: unknown;
  readonly after?: unknown;
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
  readonly parts: readonly {
    readonly name: string;
    readonly gas: Gas;
    readonly failure?: {
      readonly status: string;
      readonly code?: string;
      readonly reason?: string;
      readonly function?: string;
      readonly offset?: number;
      readonly instructions?: readonly { readonly offset: number; readonly text: string }[];
    };
    readonly steps: readonly Step[];
  }[];
  readonly writes: readonly {
    readonly state_key_hash: string;
    readonly kind: string;
    readonly type?: string;
    readonly before?: unknown;
    readonly after?: unknown;
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

/** All steps below some, themselves included. */
export function* stepsBelow(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    yield* stepsBelow(step.steps ?? []);
  }
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
