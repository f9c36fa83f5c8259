/** The switches that close outputs (docs/spec/decisions.md D10; docs/spec/http.md §5.8, §5.10). */
import { ApiError } from '../http/error-table.ts';
import type { Format } from '../http/negotiation.ts';
import type { ApiSettings } from '../settings.ts';

/** An operation or output that is switched off. */
export class DisabledError extends ApiError {
  constructor(message: string) {
    super(403, 'api_disabled', message);
    this.name = 'DisabledError';
  }
}

/**
 * Refuses an output that is switched off; `operation` is the name that messages use (docs/spec/http.md
 * §1.1).
 * @throws DisabledError
 */
export function requireOutput(operation: string): (settings: ApiSettings, format: Format) => void {
  return (settings, format) => {
    const enabled = format === 'json' ? settings.jsonOutputEnabled : settings.bcsOutputEnabled;
    if (enabled) return;
    const output = format.toUpperCase();
    throw new DisabledError(`${operation} with ${output} output is disabled on this endpoint`);
  };
}

/**
 * Refuses JSON for an operation whose answers this node gives as BCS only, with what the reference says of its own
 * such operations; then looks at the switches.
 * @throws DisabledError
 */
export function requireBcs(operation: string): (settings: ApiSettings, format: Format) => void {
  const requireBcsOutput = requireOutput(operation);
  return (settings, format) => {
    if (format === 'json') throw bcsOnly(operation);
    requireBcsOutput(settings, format);
  };
}

/** What a client is told that asks for JSON where there is only BCS. */
export function bcsOnly(operation: string): DisabledError {
  return new DisabledError(`${operation} is not allowed. Only BCS is supported as an AcceptType.`);
}
