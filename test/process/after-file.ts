/**
 * A setup file of vitest: it runs for every file, while the modules that files import are evaluated once in a process
 * that runs many.
 */
import { afterAll } from 'vitest';
import { removeFolders } from './command.ts';

afterAll(removeFolders);
