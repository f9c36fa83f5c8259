/**
 * What is overridden, at one moment: values by keys, in memory. A state never changes, so that a request reads the same
 * from its beginning to its end. States share what they have in common: setting values, a snapshot and going back
 * to one take the same time however much is overridden.
 */

interface Stamped {
  readonly stamp: number;
  readonly value: unknown;
}

/** Values that were set one after the other; a state sees those up to its stamp, and those of the state below. */
class Layer {
  readonly below: OverrideState | undefined;
  readonly values = new Map<string, Stamped[]>();
  stamp = 0;

  constructor(below: OverrideState | undefined) {
    this.below = below;
  }
}

/** A list that only grows. States share its items, each sees as many as there were. */
interface SharedList<T> {
  readonly items: T[];
  readonly length: number;
}

/** Where values of a kind are: by keys that begin with the name of the kind. */
export class OverrideKind<T> {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  keyOf(name: string): string {
    return `${this.#name} ${name}`;
  }

  in(state: OverrideState, name: string): T | undefined {
    return state.find(this.keyOf(name)) as T | undefined;
  }
}

export class OverrideListKind<T> {
  readonly #lists: OverrideKind<SharedList<T>>;

  constructor(name: string) {
    this.#lists = new OverrideKind(name);
  }

  in(state: OverrideState, name: string): readonly T[] {
    const list = this.#lists.in(state, name);
    return list === undefined ? [] : list.items.slice(0, list.length);
  }

  /** The change that adds items to a list. */
  adding(state: OverrideState, name: string, more: readonly T[]): OverrideChange {
    const list = this.#lists.in(state, name) ?? { items: [], length: 0 };
    // Another state has added to it, and was left.
    const isShared = list.items.length > list.length;
    const items = isShared ? list.items.slice(0, list.length) : list.items;
    for (const one of more) items.push(one);
    return [this.#lists.keyOf(name), { items, length: items.length }];
  }
}

export type OverrideChange = readonly [key: string, value: unknown];

export class OverrideState {
  readonly #layer: Layer;
  readonly #stamp: number;
  /** Equal in all states that follow from one another by changes that a reader of modules need not notice. */
  readonly modules: object;

  private constructor(layer: Layer, modules: object) {
    this.#layer = layer;
    this.#stamp = layer.stamp;
    this.modules = modules;
  }

  /** The state in which nothing is overridden. */
  static empty(): OverrideState {
    return new OverrideState(new Layer(undefined), {});
  }

  get isEmpty(): boolean {
    return this.#stamp === 0;
  }

  /** The state after some changes, which take effect together. @param ofModules whether modules are among them */
  with(changes: Iterable<OverrideChange>, ofModules = false): OverrideState {
    const isNewest = this.#layer.stamp === this.#stamp;
    const layer = isNewest ? this.#layer : new Layer(this);
    layer.stamp += 1;
    for (const [key, value] of changes) {
      const one = { stamp: layer.stamp, value };
      const known = layer.values.get(key);
      if (known === undefined) layer.values.set(key, [one]);
      else known.push(one);
    }
    return new OverrideState(layer, ofModules ? {} : this.modules);
  }

  find(key: string): unknown {
    const known = this.#layer.values.get(key);
    const found = known?.findLast(({ stamp }) => stamp <= this.#stamp);
    return found === undefined ? this.#layer.below?.find(key) : found.value;
  }
}
