/** Text that was stored on chain with gzip. It is untrusted: a few bytes may expand to any size. */

/** Longer text is not shown, because the page decodes and renders it in its only thread. */
export const MAX_TEXT_BYTES = 512 * 1024;

/** Decodes gzip in hex to text; undefined if it is not gzip, or longer than the limit. */
export async function unzipped(hex: string): Promise<string | undefined> {
  const pairs = hex.slice(2).match(/../g) ?? [];
  const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  // Engines throw different errors for data that is not gzip.
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
