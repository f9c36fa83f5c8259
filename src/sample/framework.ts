/** Declarations of what the sample ledger's applications use from the framework (assembler/declare-parse.ts). */
export const FRAMEWORK = `
module 0x1::string {
  struct String has copy, drop, store { bytes: vector<u8> }

  public fun utf8(bytes: vector<u8>): String;
  public fun length(text: &String): u64;
}

module 0x1::option {
  enum Option<Element> has copy, drop, store { None, Some { e: Element } }

  public fun none<Element>(): Option<Element>;
  public fun some<Element>(value: Element): Option<Element>;
}

module 0x1::signer {
  public fun address_of(account: &signer): address;
}

module 0x1::timestamp {
  public fun now_microseconds(): u64;
}

module 0x1::guid {
  struct GUID has drop, store {}
}

module 0x1::event {
  struct EventHandle<phantom T: drop + store> has store { counter: u64 }

  public fun counter<T: drop + store>(handle: &EventHandle<T>): u64;
  public fun emit<T: drop + store>(message: T);
  public fun emit_event<T: drop + store>(handle: &mut EventHandle<T>, message: T);
}

module 0x1::account {
  public fun new_event_handle<T: drop + store>(account: &signer): EventHandle<T>;
}

module 0x1::table {
  struct Table<phantom K: copy + drop, phantom V> has store { handle: address }

  public fun new<K: copy + drop, V: store>(): Table<K, V>;
  public fun add<K: copy + drop, V>(table: &mut Table<K, V>, key: K, value: V);
  public fun remove<K: copy + drop, V>(table: &mut Table<K, V>, key: K): V;
}

module 0x1::table_with_length {
  struct TableWithLength<phantom K: copy + drop, phantom V> has store { length: u64 }

  public fun new<K: copy + drop, V: store>(): TableWithLength<K, V>;
  public fun contains<K: copy + drop, V>(table: &TableWithLength<K, V>, key: K): bool;
  public fun borrow<K: copy + drop, V>(table: &TableWithLength<K, V>, key: K): &V;
  public fun upsert<K: copy + drop, V: drop>(table: &mut TableWithLength<K, V>, key: K, value: V);
}

module 0x1::simple_map {
  struct SimpleMap<Key, Value> has copy, drop, store { data: vector<u8> }

  public fun new<Key: store, Value: store>(): SimpleMap<Key, Value>;
}

module 0x1::fixed_point32 {
  struct FixedPoint32 has copy, drop, store { value: u64 }

  public fun create_from_rational(numerator: u64, denominator: u64): FixedPoint32;
}

module 0x1::object {
  struct Object<phantom T> has copy, drop, store { inner: address }
  struct ConstructorRef has drop { self: address }
  struct DeleteRef has drop, store { self: address }
  struct ObjectGroup {}

  public fun create_object(owner: address): ConstructorRef;
  public fun create_named_object(creator: &signer, seed: vector<u8>): ConstructorRef;
  public fun generate_signer(ref: &ConstructorRef): signer;
  public fun generate_delete_ref(ref: &ConstructorRef): DeleteRef;
  public fun object_from_constructor_ref<T: key>(ref: &ConstructorRef): Object<T>;
  public fun address_to_object<T: key>(object: address): Object<T>;
  public fun object_address<T: key>(object: &Object<T>): address;
  public fun delete(ref: DeleteRef);
}

module 0x1::fungible_asset {
  struct Metadata has key { decimals: u8 }
  struct MintRef has drop, store { metadata: Object<Metadata> }

  public fun generate_mint_ref(ref: &0x1::object::ConstructorRef): MintRef;
}

module 0x1::primary_fungible_store {
  public fun create_primary_store_enabled_fungible_asset(
    ref: &0x1::object::ConstructorRef, maximum_supply: Option<u128>, name: String, symbol: String,
    decimals: u8, icon_uri: String, project_uri: String);
  public fun mint(ref: &0x1::fungible_asset::MintRef, owner: address, amount: u64);
}

module 0x1::aptos_account {
  public entry fun transfer(source: &signer, to: address, amount: u64);
}
`;
