/** Verdicts of the reference on modules and scripts (explained in verifier.README.md beside the files). */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { LoaderLimits } from '../../../src/move/modules/compiled.ts';
import type { VerifierConfig } from '../../../src/vm/verifier/model/verifier-config.ts';

const VECTORS = new URL('../../../../shared/vectors/', import.meta.url);

/** Whether the recorded verdicts exist. */
export const vectorsPresent = existsSync(new URL('verifier.jsonl.gz', VECTORS));

/** `ok`, or what was refused and where in the order of checks. */
export type Verdict = 'ok' | { readonly stage: string; readonly code: string; readonly n: number };

/** Offset in the original, number of bytes removed there, inserted bytes in hex. */
type Patch = readonly [offset: number, removed: number, put: string];

export interface VerifierVector {
  readonly k: 'module' | 'script';
  readonly b?: string;
  readonly o?: string;
  readonly p?: readonly Patch[];
  readonly c?: string;
  readonly t: string;
  readonly verify: Verdict;
  readonly link?: Verdict;
  readonly publish?: Verdict;
}

export interface UpgradeVector {
  readonly t: string;
  readonly old: string;
  readonly new?: string;
  readonly p?: readonly Patch[];
  readonly compat: string;
  readonly friends?: string;
  readonly 'no-downgrade'?: string;
  readonly 'entry-free'?: string;
  readonly 'no-layout'?: string;
  readonly metadata?: string;
  readonly groups?: string;
  readonly events?: string;
  readonly verify: 'ok' | string;
}

interface Original {
  readonly id: string;
  readonly b: string;
  readonly dep?: boolean;
}

export interface VectorFile<Vector> {
  /** Bytes by id, including those of the framework. */
  readonly originals: ReadonlyMap<string, Buffer>;
  readonly dependencies: readonly Buffer[];
  readonly vectors: readonly Vector[];
  readonly configs: ReadonlyMap<string, { limits: LoaderLimits; verifier: VerifierConfig }>;
}

interface RecordedConfig {
  readonly max_binary_format_version: number;
  readonly max_identifier_size: number;
  readonly verifier: Readonly<Record<string, number | boolean | null>>;
}

export function readVectors<Vector>(name: string): VectorFile<Vector> {
  const text = gunzipSync(readFileSync(new URL(name, VECTORS))).toString();
  const [head, ...lines] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const originals = lines.filter((line): line is Original => 'id' in line);
  const recorded: Readonly<Record<string, RecordedConfig>> = head.configs ?? {};
  return {
    originals: new Map(originals.map(({ id, b }) => [id, Buffer.from(b, 'hex')])),
    dependencies: originals.filter(({ dep }) => dep).map(({ b }) => Buffer.from(b, 'hex')),
    vectors: lines.filter((line) => !('id' in line)),
    configs: new Map(
      Object.entries(recorded).map(([key, config]) => [
        key,
        {
          limits: {
            maxVersion: config.max_binary_format_version,
            maxIdentifierBytes: config.max_identifier_size,
          },
          verifier: verifierConfig(config.verifier),
        },
      ]),
    ),
  };
}

function verifierConfig(recorded: RecordedConfig['verifier']): VerifierConfig {
  const limit = (name: string) => (recorded[name] ?? Number.POSITIVE_INFINITY) as number;
  return {
    maxLoopDepth: limit('max_loop_depth'),
    maxFunctionParameters: limit('max_function_parameters'),
    maxFunctionReturnValues: limit('max_function_return_values'),
    maxGenericInstantiationLength: limit('max_generic_instantiation_length'),
    maxBasicBlocks: limit('max_basic_blocks'),
    maxBasicBlocksInScript: limit('max_basic_blocks_in_script'),
    maxValueStackSize: limit('max_value_stack_size'),
    maxPushSize: limit('max_push_size'),
    maxTypeNodes: limit('max_type_nodes'),
    maxTypeDepth: limit('max_type_depth'),
    maxStructDefinitions: limit('max_struct_definitions'),
    maxStructVariants: limit('max_struct_variants'),
    maxFieldsInStruct: limit('max_fields_in_struct'),
    maxFunctionDefinitions: limit('max_function_definitions'),
    maxFunctionMeterUnits: limit('max_per_fun_meter_units'),
    enableEnumTypes: recorded.enable_enum_types === true,
    enableResourceAccessControl: recorded.enable_resource_access_control === true,
    enableFunctionValues: recorded.enable_function_values === true,
    countScriptTypeParameters: recorded.sig_checker_v2_fix_script_ty_param_count === true,
    checkFunctionTypes: recorded.sig_checker_v2_fix_function_signatures === true,
  };
}

/** A copy with some bytes replaced. */
export function patched(original: Buffer, patch: readonly Patch[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const [offset, removed, put] of patch) {
    parts.push(original.subarray(at, offset), Buffer.from(put, 'hex'));
    at = offset + removed;
  }
  return Buffer.concat([...parts, original.subarray(at)]);
}
