/** One embedded session, asked in turn: from its own thread or from another. */
import { type Row, runTransaction, type Session, type SqlText, type Statement } from './session.ts';

export type EmbeddedRequest =
  | { readonly kind: 'query'; readonly text: string; readonly parameters: readonly SqlText[] }
  | { readonly kind: 'transaction'; readonly statements: readonly Statement[] }
  | { readonly kind: 'close' };

export type EmbeddedAnswer = { readonly rows: Row[] } | { readonly failure: Error };

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
    return { failure: asError(error) };
  }
}

/** Errors of PostgreSQL have members that no thread can send. */
function asError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { code } = error as { code?: unknown };
  return Object.assign(new Error(error.message), typeof code === 'string' ? { code } : {});
}
