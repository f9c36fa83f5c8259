/** The types of random programs on references, for the generator and for the evaluator. */
export const DECLARATIONS = `
  struct A has copy, drop, store { x: u64, y: u8 }
  struct P<T> has copy, drop, store { one: T, two: vector<T> }
  enum E has copy, drop, store { None, One { x: u64 }, Two { a: A, v: vector<u8> } }
  struct B has copy, drop, store, key { a: A, v: vector<A>, b: vector<u8>, e: E, p: P<A> }
  fun ax(r: &mut A): &mut u64 { MoveLoc r; MutBorrowField A.x; Ret; }
  fun first<T>(r: &mut vector<T>): &mut T { MoveLoc r; LdU64 0; VecMutBorrow <T>; Ret; }`;

type Fields = readonly (readonly [name: string, type: string])[];

export const STRUCTS: Readonly<Record<string, Fields>> = {
  A: [
    ['x', 'u64'],
    ['y', 'u8'],
  ],
  'P<u64>': [
    ['one', 'u64'],
    ['two', 'vector<u64>'],
  ],
  'P<A>': [
    ['one', 'A'],
    ['two', 'vector<A>'],
  ],
  B: [
    ['a', 'A'],
    ['v', 'vector<A>'],
    ['b', 'vector<u8>'],
    ['e', 'E'],
    ['p', 'P<A>'],
  ],
};

/** Variants of E, in order. */
export const VARIANTS: Readonly<Record<string, Fields>> = {
  None: [],
  One: [['x', 'u64']],
  Two: [
    ['a', 'A'],
    ['v', 'vector<u8>'],
  ],
};

export const VALUE_TYPES = [
  ...['u8', 'u64', 'bool', 'A', 'B', 'E', 'P<u64>', 'P<A>'],
  ...['vector<u8>', 'vector<u64>', 'vector<A>', 'vector<vector<u64>>'],
];

/** The type of a vector's elements; absent: not a vector. */
export function elementOf(type: string): string | undefined {
  return /^vector<(.*)>$/.exec(type)?.[1];
}
