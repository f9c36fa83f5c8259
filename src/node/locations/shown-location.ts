import { isPostgresUrl, shownPostgresUrl } from '../../store/postgres/location.ts';

/** What messages and logs say instead of a location, which may contain a password. */
export function shownLocation(data: string): string {
  return isPostgresUrl(data) ? shownPostgresUrl(data) : data;
}

/** Arguments of a command line without passwords of locations. */
export function shownArguments(args: readonly string[]): string[] {
  return args.map((arg) => arg.replace(/postgres(?:ql)?:\/\/.*/is, shownPostgresUrl));
}

/** Takes passwords of locations on the command line out of the list of processes. */
export function hidePasswords(args: readonly string[]): void {
  const shown = shownArguments(args);
  if (shown.join() !== args.join()) process.title = ['daybook', ...shown].join(' ');
}
