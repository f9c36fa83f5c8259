/** Logs: one JSON object a line on stderr, so that stdout stays for answers. */
import { destination, type Logger, pino, stdSerializers } from 'pino';

const STDERR = 2;

/**
 * A logger at a level. Lines are written at once: a node writes few, and none may be lost at its end. What caused an
 * error stands beside it, not in its message: ours say the cause themselves where it helps.
 */
export function createLogger(level: string): Logger {
  const serializers = { err: stdSerializers.errWithCause };
  const settings = { level, base: { pid: process.pid }, serializers };
  return pino(settings, destination({ fd: STDERR, sync: true }));
}
