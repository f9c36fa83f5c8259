// Node 20 runs no TypeScript: from here on its loader gets one without types.
import { register } from 'node:module';

register('./typescript-loader.mjs', import.meta.url);
