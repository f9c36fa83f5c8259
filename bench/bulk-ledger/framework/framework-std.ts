/**
 * Part 1 of 6: the small building blocks at 0x1 (names and layouts: docs/spec/move.md §4.4, docs/spec/encode.md §B1).
 * All parts are declarations of our own; see declare-parse.ts for the language.
 */
export const STANDARD_MODULES = `
module 0x1::error {
  public fun canonical(category: u64, reason: u64): u64 {
    MoveLoc category; LdU8 16; Shl; MoveLoc reason; Add; Ret;
  }
  public fun invalid_argument(reason: u64): u64;
  public fun not_found(reason: u64): u64;
  public fun permission_denied(reason: u64): u64;
}

module 0x1::bcs {
  native public fun to_bytes<MoveValue>(value: &MoveValue): vector<u8>;
}

module 0x1::signer {
  public fun address_of(account: &signer): address;
  native public fun borrow_address(account: &signer): &address;
}

module 0x1::vector {
  public fun contains<Element>(items: &vector<Element>, wanted: &Element): bool;
  public fun length<Element>(items: &vector<Element>): u64;
  public fun push_back<Element>(items: &mut vector<Element>, item: Element);
}

module 0x1::string {
  error 1 EINVALID_UTF8 "The bytes are not UTF-8";

  struct String has copy, drop, store { bytes: vector<u8> }

  public fun utf8(bytes: vector<u8>): String;
  public fun try_utf8(bytes: vector<u8>): Option<String>;
  public fun bytes(text: &String): &vector<u8>;
  public fun append(text: &mut String, more: String);
  public fun length(text: &String): u64;
}

module 0x1::option {
  error 262144 EOPTION_IS_SET "The option holds a value where none was expected";
  error 262145 EOPTION_NOT_SET "The option is empty where a value was expected";

  enum Option<Element> has copy, drop, store { None, Some { e: Element } }

  public fun none<Element>(): Option<Element> {
    PackVariant Option<Element>.None; Ret;
  }
  public fun some<Element>(value: Element): Option<Element> {
    MoveLoc value; PackVariant Option<Element>.Some; Ret;
  }
  public fun is_some<Element>(self: &Option<Element>): bool {
    MoveLoc self; TestVariant Option<Element>.Some; Ret;
  }
  public fun borrow<Element>(self: &Option<Element>): &Element {
    CopyLoc self; Call is_some<Element>; BrTrue found;
    MoveLoc self; Pop; LdU64 262145; Abort;
  found:
    MoveLoc self; ImmBorrowVariantField Option<Element>.Some.e; Ret;
  }
  public fun get_with_default<Element: copy + drop>(
    self: &Option<Element>, default: Element): Element {
    CopyLoc self; Call is_some<Element>; BrTrue found;
    MoveLoc self; Pop; MoveLoc default; Ret;
  found:
    MoveLoc self; Call borrow<Element>; ReadRef; Ret;
  }
  public fun extract<Element>(self: &mut Option<Element>): Element;
}

module 0x1::cmp {
  enum Ordering has copy, drop { Less, Equal, Greater }

  public fun compare<T>(left: &T, right: &T): Ordering;
}

module 0x1::result {
  public enum Result<T, E> has copy, store { Ok(T), Err(E) }

  public fun is_ok<T, E>(self: &Result<T, E>): bool;
}

module 0x1::any {
  struct Any has drop, store { type_name: String, data: vector<u8> }

  public fun pack<T: drop + store>(value: T): Any;
}

module 0x1::copyable_any {
  struct Any has copy, drop, store { type_name: String, data: vector<u8> }

  public fun pack<T: copy + drop + store>(value: T): Any;
}

module 0x1::fixed_point32 {
  struct FixedPoint32 has copy, drop, store { value: u64 }

  public fun create_from_rational(numerator: u64, denominator: u64): FixedPoint32;
  public fun multiply_u64(value: u64, multiplier: FixedPoint32): u64;
}

module 0x1::simple_map {
  struct Element<Key, Value> has copy, drop, store { key: Key, value: Value }
  struct SimpleMap<Key, Value> has copy, drop, store { data: vector<Element<Key, Value>> }

  public fun new<Key: store, Value: store>(): SimpleMap<Key, Value>;
  public fun add<Key: store, Value: store>(map: &mut SimpleMap<Key, Value>, key: Key, value: Value);
  public fun contains_key<Key: store, Value: store>(map: &SimpleMap<Key, Value>, key: &Key): bool;
}

module 0x1::table {
  friend 0x1::table_with_length;

  struct Box<Value> has drop, store, key { val: Value }
  struct Table<phantom Key: copy + drop, phantom Value> has store { handle: address }

  public fun new<Key: copy + drop, Value: store>(): Table<Key, Value>;
  public fun add<Key: copy + drop, Value>(table: &mut Table<Key, Value>, key: Key, value: Value);
  public fun contains<Key: copy + drop, Value>(table: &Table<Key, Value>, key: Key): bool {
    MoveLoc table; MoveLoc key; Call contains_box<Key, Value, Box<Value>>; Ret;
  }
  public fun borrow<Key: copy + drop, Value>(table: &Table<Key, Value>, key: Key): &Value {
    MoveLoc table; MoveLoc key; Call borrow_box<Key, Value, Box<Value>>;
    ImmBorrowField Box<Value>.val; Ret;
  }
  public fun remove<Key: copy + drop, Value>(table: &mut Table<Key, Value>, key: Key): Value;
  native fun contains_box<Key: copy + drop, Value, B>(table: &Table<Key, Value>, key: Key): bool;
  native fun borrow_box<Key: copy + drop, Value, B>(
    table: &Table<Key, Value>, key: Key): &Box<Value>;
}

module 0x1::table_with_length {
  struct TableWithLength<phantom Key: copy + drop, phantom Value> has store {
    inner: Table<Key, Value>,
    length: u64,
  }

  public fun new<Key: copy + drop, Value: store>(): TableWithLength<Key, Value>;
  public fun length<Key: copy + drop, Value>(table: &TableWithLength<Key, Value>): u64 {
    MoveLoc table; ImmBorrowField TableWithLength<Key, Value>.length; ReadRef; Ret;
  }
  public fun contains<Key: copy + drop, Value>(
    table: &TableWithLength<Key, Value>, key: Key): bool {
    MoveLoc table; ImmBorrowField TableWithLength<Key, Value>.inner;
    MoveLoc key; Call 0x1::table::contains<Key, Value>; Ret;
  }
  public fun borrow<Key: copy + drop, Value>(
    table: &TableWithLength<Key, Value>, key: Key): &Value {
    MoveLoc table; ImmBorrowField TableWithLength<Key, Value>.inner;
    MoveLoc key; Call 0x1::table::borrow<Key, Value>; Ret;
  }
}

module 0x1::type_info {
  struct TypeInfo has copy, drop, store {
    account_address: address,
    module_name: vector<u8>,
    struct_name: vector<u8>,
  }

  public fun account_address(type_info: &TypeInfo): address {
    MoveLoc type_info; ImmBorrowField TypeInfo.account_address; ReadRef; Ret;
  }
  native public fun type_of<T>(): TypeInfo;
  native public fun type_name<T>(): String;
}

module 0x1::aggregator {
  struct Aggregator has store { handle: address, key: address, limit: u128 }

  native public fun add(aggregator: &mut Aggregator, value: u128);
  native public fun sub(aggregator: &mut Aggregator, value: u128);
  native public fun read(aggregator: &Aggregator): u128;
}

module 0x1::aggregator_factory {
  struct AggregatorFactory has key { phantom_table: Table<address, u128> }

  public(friend) fun initialize_aggregator_factory(framework: &signer);
}

module 0x1::optional_aggregator {
  use 0x1::aggregator::Aggregator;

  struct Integer has store { value: u128, limit: u128 }
  struct OptionalAggregator has store { aggregator: Option<Aggregator>, integer: Option<Integer> }

  public fun add(aggregator: &mut OptionalAggregator, value: u128);
  public fun read(aggregator: &OptionalAggregator): u128 {
    CopyLoc aggregator; ImmBorrowField OptionalAggregator.aggregator;
    Call 0x1::option::is_some<Aggregator>; BrFalse integer;
    MoveLoc aggregator; ImmBorrowField OptionalAggregator.aggregator;
    Call 0x1::option::borrow<Aggregator>; Call 0x1::aggregator::read; Ret;
  integer:
    MoveLoc aggregator; ImmBorrowField OptionalAggregator.integer;
    Call 0x1::option::borrow<Integer>; ImmBorrowField Integer.value; ReadRef; Ret;
  }
}

module 0x1::aggregator_v2 {
  struct Aggregator<IntElement> has drop, store { value: IntElement, max_value: IntElement }
  struct AggregatorSnapshot<IntElement> has drop, store { value: IntElement }
  struct DerivedStringSnapshot has drop, store { value: String, padding: vector<u8> }

  native public fun try_add<IntElement>(
    aggregator: &mut Aggregator<IntElement>, value: IntElement): bool;
  native public fun read<IntElement>(aggregator: &Aggregator<IntElement>): IntElement;
  native public fun read_derived_string(snapshot: &DerivedStringSnapshot): String;
  native public fun snapshot<IntElement>(
    aggregator: &Aggregator<IntElement>): AggregatorSnapshot<IntElement>;
}

module 0x1::guid {
  friend 0x1::account;
  friend 0x1::object;

  error 0 EGUID_GENERATOR_NOT_PUBLISHED "There is no generator of ids at this address";

  struct GUID has drop, store { id: ID }
  struct ID has copy, drop, store { creation_num: u64, addr: address }

  public(friend) fun create(addr: address, creation_num: &mut u64): GUID;
  public fun creator_address(guid: &GUID): address;
  public fun creation_num(guid: &GUID): u64;
  public fun eq_id(guid: &GUID, id: &ID): bool;
}

module 0x1::event {
  use 0x1::guid::GUID;
  friend 0x1::account;
  friend 0x1::object;

  struct EventHandle<phantom T: drop + store> has store { counter: u64, guid: GUID }

  public fun emit<T: drop + store>(message: T);
  public fun emit_event<T: drop + store>(handle: &mut EventHandle<T>, message: T);
  public(friend) fun new_event_handle<T: drop + store>(guid: GUID): EventHandle<T>;
  public fun counter<T: drop + store>(handle: &EventHandle<T>): u64 {
    MoveLoc handle; ImmBorrowField EventHandle<T>.counter; ReadRef; Ret;
  }
}
`;
