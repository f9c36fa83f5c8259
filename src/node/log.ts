/** The node's log: lines on stderr, because stdout is for reports; JSON, or formatted for people on a terminal. */
import { createRequire } from 'node:module';
import { type Logger, pino } from 'pino';
import { escapeInvisible } from './visible-text.ts';

const STDERR = 2;

const ERROR_LEVEL = 50;

interface LogStream {
  write(line: string): void;
  flushSync(): void;
}

/**
 * A logger at a level. An error's cause is logged next to it, not in its message: our messages name the cause where it
 * helps.
 */
export function createLogger(level: string): Logger {
  const serializers = { err: pino.stdSerializers.errWithCause };
  const settings = { level, base: { pid: process.pid }, serializers };
  return pino(settings, openLogStream());
}

/**
 * Lines are written synchronously: a node writes few, and none may be lost at exit.
 * @param minBytes lines are written together when they reach this many bytes
 */
export function openLogStream(minBytes = 0): LogStream {
  const stream = pino.destination({ fd: STDERR, sync: true, minLength: minBytes });
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
    // Texts from clients and other nodes must not control the terminal.
    write: (line) => {
      const visible = (_name: string, value: unknown) =>
        typeof value === 'string' ? escapeInvisible(value) : value;
      const facts = JSON.parse(line, visible);
      // A warning needs no stack.
      if (facts.level < ERROR_LEVEL && facts.err?.code !== undefined) {
        facts.err = `${facts.err.code}: ${facts.err.message}`;
      }
      stream.write(format(facts));
    },
    flushSync: () => stream.flushSync(),
  };
}
