/** Parts of a directed graph that lead back to themselves. */

/**
 * The strongly connected component of each node: nodes have the same number if each can be reached from the other.
 * Iterative: graphs come from untrusted modules.
 */
export function components(nodeCount: number, edges: readonly (readonly number[])[]): number[] {
  const component = new Array<number>(nodeCount).fill(-1);
  const index = new Array<number>(nodeCount).fill(-1);
  const low = new Array<number>(nodeCount).fill(0);
  const open: number[] = [];
  let visited = 0;
  let found = 0;
  const enter = (node: number) => {
    index[node] = visited;
    low[node] = visited;
    visited += 1;
    open.push(node);
    return { node, next: 0 };
  };
  const leave = (node: number) => {
    if (low[node] !== index[node]) return;
    for (let member = open.pop()!; ; member = open.pop()!) {
      component[member] = found;
      if (member === node) break;
    }
    found += 1;
  };
  for (let root = 0; root < nodeCount; root += 1) {
    if (index[root] !== -1) continue;
    const path = [enter(root)];
    while (path.length > 0) {
      const top = path.at(-1)!;
      const target = edges[top.node]?.[top.next];
      top.next += 1;
      if (target === undefined) {
        path.pop();
        leave(top.node);
        const parent = path.at(-1);
        if (parent !== undefined) low[parent.node] = Math.min(low[parent.node]!, low[top.node]!);
      } else if (index[target] === -1) path.push(enter(target));
      else if (component[target] === -1) {
        low[top.node] = Math.min(low[top.node]!, index[target]!);
      }
    }
  }
  return component;
}
