/** Special properties of the node, from the HTML document. */
import type { NodeFacts } from '../../../src/api/http/node-facts.ts';

const content = document.querySelector<HTMLMetaElement>('meta[name="node"]')?.content;

export const NODE: NodeFacts = content === undefined ? {} : (JSON.parse(content) as NodeFacts);
