/** The source of a fork's ledger, at the version of the fork. */
import type { OpenSource } from '../source.ts';
import { ForkEventStream } from './fork-events.ts';
import { ForkHistory } from './fork-history.ts';
import { ForkState } from './fork-state.ts';
import type { ForkSource } from './recorder.ts';

/** @param source provides what the fork has not recorded */
export function forkSource(source: ForkSource): OpenSource {
  return (store, head) => {
    const fork = { store, source };
    return {
      head,
      isFrozen: true,
      state: new ForkState(fork),
      events: { eventStream: (stream) => new ForkEventStream(fork, head.version, stream) },
      history: new ForkHistory(fork, head),
    };
  };
}
