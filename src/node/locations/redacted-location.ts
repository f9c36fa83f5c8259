import { isPostgresUrl, redactedPostgresUrl } from '../../store/postgres/location.ts';

/** The text of a location for messages and logs, without its password. */
export function redactedLocation(data: string): string {
  return isPostgresUrl(data) ? redactedPostgresUrl(data) : data;
}

/** Arguments of a command line without passwords: of locations, and of any other URL that was given in place of one. */
export function redactedArguments(args: readonly string[]): string[] {
  return args.map((arg) => arg.replace(/[a-z0-9+.:-]*:\/\/.*/is, redactedUrl));
}

function redactedUrl(url: string): string {
  if (isPostgresUrl(url)) return redactedPostgresUrl(url);
  const [scheme] = url.split('://', 1);
  if (!/^https?$/i.test(scheme!)) return `${scheme}://…`;
  // Without user and query; a number behind the @ is the version of a fork.
  return url.replace(/[?#].*/s, '').replace(/\/\/.*@(?!\d+$)/s, '//');
}

/** Takes passwords on the command line out of the list of processes. */
export function hidePasswords(args: readonly string[]): void {
  const redacted = redactedArguments(args);
  if (redacted.join() !== args.join()) process.title = ['daybook', ...redacted].join(' ');
}
