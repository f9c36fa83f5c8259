// Node 20 cannot run TypeScript: from here on a loader strips types.
import { register } from 'node:module';

register('./typescript-loader.mjs', import.meta.url);
