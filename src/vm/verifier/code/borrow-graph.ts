/**
 * Which references borrow from which (docs/spec/verifier.md §3.15). An edge from a reference to one that borrows from
 * it has a path: the fields, locals or resources on the way. A weak edge may lead anywhere below the end of its path.
 */

/** One step of a path: a field, a local or a resource, as `labelOf` numbers them. */
type Label = number;

const KINDS = { local: 0, resource: 1, field: 2 } as const;
/** More than exist of each kind. */
const LABELS_PER_KIND = 65_536;

export function labelOf(kind: keyof typeof KINDS, index: number): Label {
  return KINDS[kind] * LABELS_PER_KIND + index;
}

interface Edge {
  readonly isStrong: boolean;
  readonly path: readonly Label[];
}

/** Most edges from one reference to another; more are replaced by one weak edge without a path. */
const MAX_EDGES = 10;

/** Order in which edges are added, which decides when there are too many. */
function compareEdges(one: Edge, other: Edge): number {
  if (one.isStrong !== other.isStrong) return one.isStrong ? 1 : -1;
  const shared = Math.min(one.path.length, other.path.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = one.path[at]! - other.path[at]!;
    if (difference !== 0) return difference;
  }
  return one.path.length - other.path.length;
}

function isPrefix(path: readonly Label[], of: readonly Label[]): boolean {
  return path.length <= of.length && path.every((label, at) => label === of[at]);
}

/** Edges from one reference to another, in order. Never changed. */
interface EdgeSet {
  readonly edges: readonly Edge[];
  /** Whether there were too many edges. */
  readonly isFull: boolean;
}

const NO_EDGES: EdgeSet = { edges: [], isFull: false };

function withEdge(set: EdgeSet, edge: Edge): EdgeSet {
  const { edges, isFull } = set;
  if (isFull) return set;
  if (edges.length >= MAX_EDGES) return { edges: [{ isStrong: false, path: [] }], isFull: true };
  let at = 0;
  while (at < edges.length) {
    const order = compareEdges(edge, edges[at]!);
    if (order === 0) return set;
    if (order < 0) break;
    at += 1;
  }
  return { edges: [...edges.slice(0, at), edge, ...edges.slice(at)], isFull };
}

/** Whether a set has this edge, or a weak one whose path is a prefix of it. */
function covers({ edges }: EdgeSet, other: Edge): boolean {
  return edges.some(
    (edge) =>
      compareEdges(edge, other) === 0 || (!edge.isStrong && isPrefix(edge.path, other.path)),
  );
}

interface Reference {
  readonly isMutable: boolean;
  readonly borrowedBy: Map<number, EdgeSet>;
  readonly borrowsFrom: Set<number>;
}

export class BorrowGraph {
  readonly #references: Map<number, Reference>;
  /** References that no copy shares, which can be changed in place. */
  readonly #owned = new Set<number>();
  #edgeCount: number;

  constructor(references = new Map<number, Reference>(), edgeCount = 0) {
    this.#references = references;
    this.#edgeCount = edgeCount;
  }

  /** Number of references and edges. */
  get size(): number {
    return this.#references.size + this.#edgeCount;
  }

  copy(): BorrowGraph {
    this.#owned.clear();
    return new BorrowGraph(new Map(this.#references), this.#edgeCount);
  }

  renumbered(numberOf: (id: number) => number): BorrowGraph {
    const references = new Map<number, Reference>();
    for (const [id, { isMutable, borrowedBy, borrowsFrom }] of this.#references) {
      const edges = new Map<number, EdgeSet>();
      for (const [borrower, set] of borrowedBy) edges.set(numberOf(borrower), set);
      const parents = new Set<number>();
      for (const parent of borrowsFrom) parents.add(numberOf(parent));
      references.set(numberOf(id), { isMutable, borrowedBy: edges, borrowsFrom: parents });
    }
    return new BorrowGraph(references, this.#edgeCount);
  }

  add(id: number, isMutable: boolean): void {
    this.#references.set(id, { isMutable, borrowedBy: new Map(), borrowsFrom: new Set() });
    this.#owned.add(id);
  }

  isMutable(id: number): boolean {
    return this.#references.get(id)!.isMutable;
  }

  #own(id: number): Reference {
    const reference = this.#references.get(id)!;
    if (this.#owned.has(id)) return reference;
    const { isMutable, borrowedBy, borrowsFrom } = reference;
    const owned = {
      isMutable,
      borrowedBy: new Map(borrowedBy),
      borrowsFrom: new Set(borrowsFrom),
    };
    this.#references.set(id, owned);
    this.#owned.add(id);
    return owned;
  }

  /** `child` borrows exactly what is at the path; others that borrow from there on now borrow from `child`. */
  borrowExactly(parent: number, path: readonly Label[], child: number): void {
    const { borrowedBy } = this.#own(parent);
    const moved: [borrower: number, edge: Edge][] = [];
    for (const [borrower, { edges, isFull }] of borrowedBy) {
      const left = edges.filter((edge) => !isPrefix(path, edge.path));
      if (left.length === edges.length) continue;
      for (const edge of edges) {
        if (isPrefix(path, edge.path)) moved.push([borrower, edge]);
      }
      this.#edgeCount -= edges.length - left.length;
      if (left.length > 0) {
        borrowedBy.set(borrower, { edges: left, isFull });
      } else {
        borrowedBy.delete(borrower);
        this.#own(borrower).borrowsFrom.delete(parent);
      }
    }
    for (const [borrower, { isStrong, path: whole }] of moved) {
      this.#connect(child, { isStrong, path: whole.slice(path.length) }, borrower);
    }
    this.#connect(parent, { isStrong: true, path }, child);
  }

  /** `child` borrows something below the path. */
  borrowSomewhere(parent: number, path: readonly Label[], child: number): void {
    this.#connect(parent, { isStrong: false, path }, child);
  }

  #connect(parent: number, edge: Edge, child: number): void {
    const { borrowedBy } = this.#own(parent);
    const before = borrowedBy.get(child) ?? NO_EDGES;
    const after = withEdge(before, edge);
    this.#edgeCount += after.edges.length - before.edges.length;
    borrowedBy.set(child, after);
    this.#own(child).borrowsFrom.add(parent);
  }

  /** Removes a reference: its borrowers then borrow from what it borrowed from. */
  release(id: number): void {
    const { borrowedBy, borrowsFrom } = this.#references.get(id)!;
    this.#references.delete(id);
    for (const [child, { edges }] of borrowedBy) {
      this.#edgeCount -= edges.length;
      this.#own(child).borrowsFrom.delete(id);
    }
    for (const parent of borrowsFrom) {
      const parentEdges = this.#own(parent).borrowedBy;
      const { edges } = parentEdges.get(id)!;
      parentEdges.delete(id);
      this.#edgeCount -= edges.length;
      for (const { isStrong, path } of edges) {
        for (const [child, set] of borrowedBy) {
          if (parent === child) continue;
          for (const inner of set.edges) {
            const joined = isStrong ? [...path, ...inner.path] : path;
            this.#connect(parent, { isStrong: isStrong && inner.isStrong, path: joined }, child);
          }
        }
      }
    }
  }

  /** This graph plus the edges that it does not cover of another with the same references; itself if none. */
  joined(other: BorrowGraph): BorrowGraph {
    const missing: [parent: number, edge: Edge, child: number][] = [];
    for (const [parent, reference] of other.#references) {
      const own = this.#references.get(parent)!;
      if (own === reference) continue;
      for (const [child, { edges }] of reference.borrowedBy) {
        const set = own.borrowedBy.get(child) ?? NO_EDGES;
        for (const edge of edges) {
          if (!covers(set, edge)) missing.push([parent, edge, child]);
        }
      }
    }
    if (missing.length === 0) return this;
    const joined = this.copy();
    for (const [parent, edge, child] of missing) joined.#connect(parent, edge, child);
    return joined;
  }

  /** Whether a reference is borrowed as a whole, whether or not its fields are borrowed too. */
  hasFullBorrows(id: number): boolean {
    return this.#isBorrowed(id, (_, path) => path.length === 0);
  }

  /** Whether something borrows from a reference: from the part with the label or from anything. */
  isBorrowed(id: number, label?: Label): boolean {
    return this.#isBorrowed(id, (_, path) => mayOverlap(path, label));
  }

  isMutablyBorrowed(id: number, label?: Label): boolean {
    return this.#isBorrowed(
      id,
      (borrower, path) => mayOverlap(path, label) && this.isMutable(borrower),
    );
  }

  /** Whether the target of a reference can be read, at a label or as a whole. */
  isReadable(id: number, label?: Label): boolean {
    return !this.isMutable(id) || !this.isMutablyBorrowed(id, label);
  }

  #isBorrowed(id: number, test: (borrower: number, path: readonly Label[]) => boolean): boolean {
    for (const [borrower, { edges }] of this.#references.get(id)!.borrowedBy) {
      if (edges.some(({ path }) => test(borrower, path))) return true;
    }
    return false;
  }
}

function mayOverlap([first]: readonly Label[], label: Label | undefined): boolean {
  return first === undefined || label === undefined || first === label;
}
