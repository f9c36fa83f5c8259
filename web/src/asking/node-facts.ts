/** What the node is besides a plain one: its document says so. */
import type { NodeFacts } from '../../../src/api/http/node-facts.ts';

const content = document.querySelector<HTMLMetaElement>('meta[name="node"]')?.content;

export const NODE: NodeFacts = content === undefined ? {} : (JSON.parse(content) as NodeFacts);
