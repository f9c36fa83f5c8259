/** Collects the fields of a selection set: spreads fragments, applies `@include` and `@skip`, and merges equal keys. */
import {
  type FieldNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Operation } from './document.ts';
import { readArguments, type Variables } from './input-values.ts';
import type { Allowance } from './limits.ts';

/** A field of the response. Nodes with the same key are one field with the selections of all. */
export interface SelectedField {
  readonly key: string;
  readonly name: string;
  readonly node: FieldNode;
  readonly selections: readonly SelectionSetNode[];
  readonly path: string;
}

export class Selector {
  readonly #operation: Operation;
  readonly #variables: Variables;
  /** Every node counts, which bounds fragments that spread each other many times. */
  readonly #nodes: Allowance;

  constructor(operation: Operation, variables: Variables, nodes: Allowance) {
    this.#operation = operation;
    this.#variables = variables;
    this.#nodes = nodes;
  }

  get variables(): Variables {
    return this.#variables;
  }

  /** @param path of the field that has these selections */
  fields(selections: readonly SelectionSetNode[], path: string): SelectedField[] {
    const nodes = new Map<string, FieldNode[]>();
    for (const selection of selections) this.#collect(selection, `${path}.selectionSet`, nodes);
    return [...nodes].map(([key, [node, ...others]]) => ({
      key,
      name: node!.name.value,
      node: node!,
      selections: [node!, ...others].flatMap(({ selectionSet }) => selectionSet ?? []),
      path: `${path}.selectionSet.${node!.name.value}`,
    }));
  }

  #collect({ selections }: SelectionSetNode, path: string, found: Map<string, FieldNode[]>): void {
    for (const selection of selections) {
      this.#nodes.add(1, path);
      if (!this.#isIncluded(selection, path)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const nodes = found.get(key);
        if (nodes === undefined) found.set(key, [selection]);
        else nodes.push(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        this.#collect(selection.selectionSet, path, found);
      } else {
        const fragment = this.#operation.fragments.get(selection.name.value)!;
        this.#collect(fragment.selectionSet, path, found);
      }
    }
  }

  #isIncluded({ directives }: SelectionNode, path: string): boolean {
    for (const { name, arguments: nodes } of directives ?? []) {
      const directive = [GraphQLIncludeDirective, GraphQLSkipDirective].find(
        (known) => known.name === name.value,
      );
      if (directive === undefined) continue;
      const isSet = readArguments(nodes, directive.args, this.#variables, `${path}.${name.value}`);
      if (isSet.get('if') !== (directive === GraphQLIncludeDirective)) return false;
    }
    return true;
  }
}
