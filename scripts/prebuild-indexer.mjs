/** Makes the files of an empty database of the indexer for the package: making them takes seconds. */
import { writeFileSync } from 'node:fs';
import { emptyDatabase } from '../dist/indexer/database/embedded-session.js';

const file = new URL('../dist/indexer/database/prebuilt.tgz', import.meta.url);
writeFileSync(file, await emptyDatabase());
