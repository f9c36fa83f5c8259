/** Compiled modules and scripts: they either load, encode again and are verified, or are rejected. */
import { readModule } from '../../src/move/modules/read.ts';
import { checkComplexity } from '../../src/vm/publish/complexity.ts';
import { VmError } from '../../src/vm/status/status.ts';
import { moduleChecks } from '../../src/vm/verifier/verify.ts';
import { doInTurns } from '../../src/yield-budget.ts';
import { survivesAsModule, survivesAsScript } from '../../test/move/modules/damaged-binaries.ts';
import {
  fullModule,
  fullScript,
  SMALL_MODULE,
  SMALL_SCRIPT,
} from '../../test/move/modules/module-samples.ts';
import { writeModule, writeScript } from '../../test/move/modules/write-module.ts';
import { frameworkBytecodes } from '../../test/vm/framework.ts';
import { type Decoder, decoderTarget } from './decoders.ts';

const VERSIONS = [5, 6, 7, 8, 9, 10];

const DECODERS: readonly Decoder[] = [
  {
    name: 'module',
    samples: () => [SMALL_MODULE, ...VERSIONS.map((version) => writeModule(fullModule(version)))],
    run: (bytes) => void survivesAsModule(bytes),
  },
  {
    name: 'script',
    samples: () => [SMALL_SCRIPT, ...VERSIONS.map((version) => writeScript(fullScript(version)))],
    run: (bytes) => void survivesAsScript(bytes),
  },
  {
    name: 'verifier',
    samples: () => frameworkBytecodes().map((bytes) => Buffer.from(bytes)),
    run: async (bytes) => {
      const module = readModule(bytes);
      checkComplexity(module, bytes.length);
      await doInTurns(moduleChecks(module));
    },
  },
];

export const modulesTarget = decoderTarget(
  'modules',
  'compiled modules and scripts',
  DECODERS,
  (error) => error instanceof VmError,
);
