/** Which content coding an answer gets (docs/spec/http.md §10.2). */

/**
 * Codings that answers and request bodies may have; `deflate` is raw DEFLATE without a zlib
 * wrapper.
 */
export type ContentCoding = 'br' | 'gzip' | 'deflate';

/** Known names with what they stand for; their order decides between equal qualities. */
const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['*', 'br'],
]);
const RANKS: ReadonlyMap<string, number> = new Map([...CODINGS.keys()].map((name, i) => [name, i]));

/**
 * The coding for an `Accept-Encoding` header, undefined for none. As in the reference, quality is
 * known only in the spelling `;q=` without blanks, `identity` is not known, and quality 0 does not
 * exclude a coding.
 */
export function chooseCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  let best: { name: string; quality: number } | undefined;
  for (const piece of acceptEncoding.split(',')) {
    const [name, quality] = readPiece(piece.trim());
    if (!CODINGS.has(name)) continue;
    const better =
      best === undefined ||
      quality > best.quality ||
      (quality === best.quality && RANKS.get(name)! < RANKS.get(best.name)!);
    if (better) best = { name, quality };
  }
  return best && CODINGS.get(best.name);
}

function readPiece(piece: string): [name: string, quality: number] {
  const mark = piece.indexOf(';q=');
  if (mark === -1) return [piece, 1000];
  const quality = Number(piece.slice(mark + 3));
  return [piece.slice(0, mark), Number.isFinite(quality) ? Math.trunc(quality * 1000) : 1000];
}
