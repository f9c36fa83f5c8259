/** One search box for everything, which suggests names while the reader types. */
import { useId, useRef, useState } from 'preact/hooks';
import { ApiFailure } from './asking/api-client.ts';
import { findNamed, type Named } from './asking/names.ts';
import { go } from './navigation.ts';
import { linkTo, readSearch } from './route.ts';

export const SEARCH_HINT =
  'A version or a height (5044), an address or a hash (0x…), a module (0x1::coin), an item of one ' +
  '(0x1::coin::transfer), an event stream (0x1/2), or a name of a module, a function or an asset.';

/** Delay after the last key before names are looked up, in milliseconds. */
const PAUSE_MS = 150;

export function SearchBox() {
  const id = useId();
  const [offered, setOffered] = useState<readonly Named[]>([]);
  const run = useRef(new AbortController());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const offer = (text: string): void => {
    clearTimeout(timer.current);
    run.current.abort();
    if (readSearch(text)?.kind !== 'word') return;
    run.current = new AbortController();
    const { signal } = run.current;
    timer.current = setTimeout(() => {
      findNamed(text, signal).then(
        (found) => {
          if (!signal.aborted) setOffered(found);
        },
        (error: unknown) => {
          // ApiFailures are shown by the search itself.
          if (!signal.aborted && !(error instanceof ApiFailure)) reportError(error);
        },
      );
    }, PAUSE_MS);
  };
  const look = (event: Event): void => {
    event.preventDefault();
    const input = document.getElementById(id) as HTMLInputElement;
    const q = input.value.trim();
    const chosen = offered.find(({ name }) => name === q);
    const term = readSearch(q);
    if (chosen === undefined && term === undefined) {
      input.setCustomValidity(`This is none of these. ${SEARCH_HINT}`);
      input.reportValidity();
      return;
    }
    // After this `/` focuses the search again.
    input.blur();
    if (chosen !== undefined) go(chosen.path);
    else if (term!.kind === 'place') go(linkTo(term!.view, term!.parameters));
    else go(linkTo('search', { q }));
  };
  return (
    <search>
      <form class="search" aria-label="Search" onSubmit={look}>
        <label class="visually-hidden" for={id}>
          Search the ledger
        </label>
        <input
          id={id}
          type="text"
          required
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="Version, hash, address, name  ( / )"
          title={SEARCH_HINT}
          list={`${id}-list`}
          onInput={({ currentTarget }) => {
            currentTarget.setCustomValidity('');
            offer(currentTarget.value);
          }}
        />
        <datalist id={`${id}-list`}>
          {offered.map(({ name, kind }) => (
            <option key={name} value={name}>
              {kind}
            </option>
          ))}
        </datalist>
        <button type="submit" class="primary">
          Search
        </button>
      </form>
    </search>
  );
}
