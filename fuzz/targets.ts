/** All targets. */
import type { Target } from './target.ts';
import { callsTarget } from './targets/calls.ts';
import { filesTarget } from './targets/files.ts';
import { httpTarget } from './targets/http.ts';
import { modulesTarget } from './targets/modules.ts';
import { pagesTarget } from './targets/pages.ts';
import { powerTarget } from './targets/power.ts';
import { textsTarget } from './targets/texts.ts';
import { upstreamsTarget } from './targets/upstreams.ts';
import { wireTarget } from './targets/wire.ts';

export const TARGETS: readonly Target[] = [
  ...[wireTarget, modulesTarget, textsTarget, filesTarget, callsTarget],
  ...[upstreamsTarget, httpTarget, pagesTarget, powerTarget],
];
