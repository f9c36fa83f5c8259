/** Move source that a publisher has stored on chain with the package. */
import { useState } from 'preact/hooks';
import type { Resource } from '../asking/answers.ts';
import { useAnswer, useWork } from '../asking/ask.tsx';
import { resourceRequest } from '../asking/requests.ts';
import { unzipped } from '../parts/gzip-text.ts';

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
  /** Undefined if the publisher has stored no source that can be shown. */
  readonly text: string | undefined;
  readonly packageName: string;
  readonly upgrades: string;
}

/** The published source of a module; undefined while unknown, or without a package. */
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
    const text = await unzipped(source);
    setKnown({ source, text });
  }, [source]);
  if (found === undefined) return undefined;
  const text = known?.source === source ? known.text : undefined;
  return { text, packageName: found.name, upgrades: found.upgrade_number };
}
