/** Requests to an embedded session, one after another, from its own thread or from another. */
import {
  type CopiedRows,
  type Row,
  runTransaction,
  type Session,
  type SqlText,
  type Statement,
} from './session.ts';

export type EmbeddedRequest =
  | { readonly kind: 'query'; readonly text: string; readonly parameters: readonly SqlText[] }
  | { readonly kind: 'transaction'; readonly statements: readonly (Statement | CopiedRows)[] }
  | { readonly kind: 'close' };

/** An error in a form that passes between threads. An Error itself would lose PostgreSQL's code. */
interface Failure {
  readonly message: string;
  readonly code: string | undefined;
}

export type EmbeddedAnswer = { readonly rows: Row[] } | { readonly failure: Failure };

export async function answerRequest(
  session: Session,
  request: EmbeddedRequest,
): Promise<EmbeddedAnswer> {
  try {
    if (request.kind === 'query') {
      return { rows: await session.query(request.text, request.parameters) };
    }
    if (request.kind === 'transaction') await runTransaction(session, request.statements);
    else await session.close();
    return { rows: [] };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  const { code } = error as { code?: unknown };
  return { message: error.message, code: typeof code === 'string' ? code : undefined };
}

export function asError({ message, code }: Failure): Error {
  return Object.assign(new Error(message), code !== undefined && { code });
}
