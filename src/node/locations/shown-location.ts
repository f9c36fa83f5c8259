import { isPostgresUrl, shownPostgresUrl } from '../../store/postgres/location.ts';

/** What messages and logs say instead of a location, which may contain a password. */
export function shownLocation(data: string): string {
  return isPostgresUrl(data) ? shownPostgresUrl(data) : data;
}

/** Takes passwords of locations on the command line out of the list of processes. */
export function hidePasswords(args: readonly string[]): void {
  const shown = args.map((arg) => arg.replace(/postgres(?:ql)?:\/\/.*/is, shownPostgresUrl));
  if (shown.join() !== args.join()) process.title = ['daybook', ...shown].join(' ');
}
