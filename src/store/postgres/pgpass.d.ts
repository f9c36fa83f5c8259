declare module 'pgpass' {
  /** Looks up a password in PGPASSFILE or `~/.pgpass`. */
  export default function pgpass(
    connection: object,
    done: (password: string | undefined) => void,
  ): void;
}
