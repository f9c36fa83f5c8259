/** Move source that a publisher has put on chain with the package. */
import { useState } from 'preact/hooks';
import type { Resource } from './answers.ts';
import { useAnswer, useWork } from './ask.tsx';
import { resourceRequest } from './requests.ts';

interface Registry extends Resource {
  readonly data: {
    readonly packages: readonly {
      readonly name: string;
      readonly upgrade_number: string;
      readonly modules: readonly { readonly name: string; readonly source: string }[];
    }[];
  };
}

interface PublishedSource {
  /** Undefined where the publisher has put none there. */
  readonly text: string | undefined;
  readonly packageName: string;
  readonly upgrades: string;
}

/** Hex of gzip as text. @throws TypeError where it is not gzip */
async function unzipped(hex: string): Promise<string> {
  const pairs = hex.slice(2).match(/../g) ?? [];
  const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return await new Response(stream).text();
}

/** What the package of a module says of it; undefined while that is not known, or where there is no package. */
export function useSource(account: string, module: string): PublishedSource | undefined {
  const { json } = useAnswer<Registry>(
    account === '' ? undefined : resourceRequest(account, '0x1::code::PackageRegistry'),
  );
  const found = json?.data.packages.find(({ modules }) =>
    modules.some(({ name }) => name === module),
  );
  const source = found?.modules.find(({ name }) => name === module)?.source ?? '0x';
  const [known, setKnown] = useState<{ source: string; text: string | undefined }>();
  useWork(async () => {
    if (source === '0x') return;
    // What is not gzip is not shown.
    const text = await unzipped(source).catch(() => undefined);
    setKnown({ source, text });
  }, [source]);
  if (found === undefined) return undefined;
  const text = known?.source === source ? known.text : undefined;
  return { text, packageName: found.name, upgrades: found.upgrade_number };
}
