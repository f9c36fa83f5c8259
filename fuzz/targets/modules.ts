/** Compiled modules and scripts: they load and can be written again, or are refused. */
import { survivesAsModule, survivesAsScript } from '../../test/move/modules/damaged-binaries.ts';
import {
  fullModule,
  fullScript,
  SMALL_MODULE,
  SMALL_SCRIPT,
} from '../../test/move/modules/module-samples.ts';
import { writeModule, writeScript } from '../../test/move/modules/write-module.ts';
import { decoderTarget } from './decoders.ts';

const VERSIONS = [5, 6, 7, 8, 9, 10];

export const modulesTarget = decoderTarget('modules', 'compiled modules and scripts', [
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
]);
