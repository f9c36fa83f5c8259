/** The request of a view as a shell command. */
import type { ApiRequest } from './api-request.ts';

/** Quotes any text without NUL as one word for a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * A `curl` command that makes the request against `origin`. `--globoff` stops curl from reading brackets in the address
 * as patterns; `--data-raw` stops it from reading a body that begins with `@` as a file name.
 */
export function curlCommand(request: ApiRequest, origin: string): string {
  const words = ['curl', '--silent', '--show-error', '--globoff'];
  if (request.body !== undefined) {
    words.push('--header', shellWord('Content-Type: application/json'));
    words.push('--data-raw', shellWord(request.body));
  }
  words.push(shellWord(origin + request.path));
  return words.join(' ');
}
