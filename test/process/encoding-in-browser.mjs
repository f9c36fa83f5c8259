/** Loaded by a browser together with the built files; the test calls the function that it sets on `globalThis`. */
import { decodeSubmission, encodeSubmission, modulesFrom, readModule } from './encoding.js';

const text = (_name, member) => (typeof member === 'bigint' ? String(member) : member);

globalThis.resultsOf = (cases) =>
  Promise.all(
    cases.map(async ({ modules, chainId, request, message }) => {
      const lookupModule = modulesFrom(modules.map((bytes) => Uint8Array.from(bytes)));
      const context = { chainId, lookupModule };
      const decoded = await decodeSubmission(Uint8Array.from(message), context);
      const encoded = await encodeSubmission(request, context);
      return { message: [...encoded], decoded: JSON.stringify(decoded, text) };
    }),
  );

globalThis.refusals = () => {
  const context = { chainId: 1, lookupModule: () => undefined };
  const results = [
    encodeSubmission('{', context),
    decodeSubmission('zz', context),
    decodeSubmission(new Uint8Array(40), context),
    (async () => readModule(Uint8Array.of(1)))(),
  ];
  return Promise.all(results.map((result) => result.catch(({ code }) => code)));
};
