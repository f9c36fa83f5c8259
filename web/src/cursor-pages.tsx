/** Listings that go on at a cursor, one page after the other. */
import { useEffect, useState } from 'preact/hooks';
import type { JsonValue } from '../../src/move/json/json-text.ts';
import type { ApiRequest } from './api-request.ts';
import { type Asked, useAnswer } from './ask.ts';
import { isList } from './json-fields.ts';

export interface Listing {
  readonly items: readonly JsonValue[];
  /** The first page's request, or that of the page that failed. */
  readonly asked: Asked;
  /** Asks for the next page; undefined when there is none. */
  readonly more: (() => void) | undefined;
}

/** `request` makes the request of the page that begins at a cursor. */
export function useListing(request: (cursor: string | undefined) => ApiRequest): Listing {
  const key = request(undefined).path;
  const [pages, setPages] = useState<{ key: string; items: readonly JsonValue[]; cursor?: string }>(
    {
      key,
      items: [],
    },
  );
  const before = pages.key === key ? pages : { key, items: [] };
  const asked = useAnswer(request(before.cursor));
  const page = isList(asked.json) ? asked.json : [];
  const next = asked.answer?.ledgerHeaders.get('cursor');
  useEffect(() => {
    if (pages.key !== key) setPages({ key, items: [] });
  }, [key]);
  const items = [...before.items, ...page];
  const more = next === undefined ? undefined : () => setPages({ key, items, cursor: next });
  return { items, asked, more };
}
