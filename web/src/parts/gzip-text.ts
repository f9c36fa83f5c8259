/** Text that somebody has put on chain with gzip: small bytes may be any size of text. */

/** Longer text is not shown: the page reads and shows all of it in its only thread. */
export const MAX_TEXT_BYTES = 512 * 1024;

/** Hex of gzip as text; undefined where it is not gzip, or longer than the limit. */
export async function unzipped(hex: string): Promise<string | undefined> {
  const pairs = hex.slice(2).match(/../g) ?? [];
  const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  // Engines have different errors for what is not gzip.
  return await textOf(stream.getReader()).catch(() => undefined);
}

async function textOf(reader: ReadableStreamDefaultReader<Uint8Array>) {
  const decoder = new TextDecoder();
  let length = 0;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > MAX_TEXT_BYTES) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
