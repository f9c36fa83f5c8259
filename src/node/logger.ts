/** Logs: one JSON object a line on stderr, so that stdout stays for answers. */
import { destination, type Logger, pino } from 'pino';

const STDERR = 2;

/** A logger at a level. Lines are written at once: a node writes few, and none may be lost at its end. */
export function createLogger(level: string): Logger {
  return pino({ level, base: { pid: process.pid } }, destination({ fd: STDERR, sync: true }));
}
