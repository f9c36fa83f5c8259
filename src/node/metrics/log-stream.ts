/** Where log lines go: to stderr, so that stdout stays for answers. As JSON; on a terminal, formatted for people. */
import { createRequire } from 'node:module';
import { destination } from 'pino';
import { escapeInvisible } from '../visible-text.ts';

const STDERR = 2;

/** pino's level of errors. */
const ERROR_LEVEL = 50;

interface LogStream {
  write(line: string): void;
  flushSync(): void;
}

/**
 * Lines are written synchronously: a node writes few, and none may be lost at exit.
 * @param minBytes lines are written together when they reach this many bytes
 */
export function openLogStream(minBytes = 0): LogStream {
  const stream = destination({ fd: STDERR, sync: true, minLength: minBytes });
  if (!process.stderr.isTTY) return stream;
  // Loaded only for a terminal.
  const { prettyFactory } = createRequire(import.meta.url)(
    'pino-pretty',
  ) as typeof import('pino-pretty');
  const format = prettyFactory({
    colorize: process.stderr.hasColors(),
    singleLine: true,
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss',
  });
  return {
    // Texts of clients and of other nodes must not control the terminal.
    write: (line) => {
      const visible = (_name: string, value: unknown) =>
        typeof value === 'string' ? escapeInvisible(value) : value;
      const facts = JSON.parse(line, visible);
      // What passes by itself needs no stack.
      if (facts.level < ERROR_LEVEL && facts.err?.code !== undefined) {
        facts.err = `${facts.err.code}: ${facts.err.message}`;
      }
      stream.write(format(facts));
    },
    flushSync: () => stream.flushSync(),
  };
}
