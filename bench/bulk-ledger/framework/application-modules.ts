/**
 * The applications of the sample ledger: user modules of CAFE with generics, enums, views, event structs, friends, old
 * bytecode and every kind of argument; and one module of BEEF that is published later and upgraded again and again.
 */
import type { Address } from '../../../src/move/types/address.ts';
import { BEEF, CAFE } from '../../../src/sample/publishers.ts';

/** Names of these addresses in declarations. */
export const APPLICATION_ADDRESSES: ReadonlyMap<string, Address> = new Map([
  ['cafe', CAFE],
  ['beef', BEEF],
]);

/** Declarations of the modules of CAFE, see declare-parse.ts for the language. */
export const APPLICATION_MODULES = `
module cafe::sample {
  use 0x1::table_with_length::TableWithLength;

  struct Sample has key { generator: u64, seed: u64, accounts: u64 }
  struct ClockChange has drop, store { height: u64, version: u64, timestamp: u64, rate: u64 }
  struct Clock has key { changes: TableWithLength<u64, ClockChange> }

  #[view]
  public fun seed(): u64 acquires Sample {
    LdConst address cafe; ImmBorrowGlobal Sample; ImmBorrowField Sample.seed; ReadRef; Ret;
  }
}

module cafe::moon_coin {
  struct MoonCoin {}

  public entry fun register(account: &signer);
}

module cafe::journal {
  error 1 ENOTHING_TO_WRITE "An entry needs a text";

  enum Mood has copy, drop, store { Calm, Busy { tasks: u64 }, Away(u64, bool) }
  struct Journal has key { entries: EventHandle<Entry>, last_mood: Mood }
  struct Entry has drop, store { number: u64, mood: Mood, text: String, written_at: u64 }

  #[view]
  public fun entries_of(author: address): u64 acquires Journal {
    CopyLoc author; Exists Journal; BrFalse none;
    MoveLoc author; ImmBorrowGlobal Journal; ImmBorrowField Journal.entries;
    Call 0x1::event::counter<Entry>; Ret;
  none:
    LdU64 0; Ret;
  }
  #[view]
  fun last_mood(author: address): Option<Mood> acquires Journal {
    CopyLoc author; Exists Journal; BrFalse none;
    MoveLoc author; ImmBorrowGlobal Journal; ImmBorrowField Journal.last_mood; ReadRef;
    Call 0x1::option::some<Mood>; Ret;
  none:
    Call 0x1::option::none<Mood>; Ret;
  }
  public entry fun write(author: &signer, text: String);
}

module cafe::ticker {
  use 0x1::table_with_length::TableWithLength;

  struct Board has key { ticks: EventHandle<Tick>, latest: TableWithLength<u64, Tick> }
  struct Tick has copy, drop, store { pair: u64, price: u64, change: i64, at: u64 }

  #[view]
  public fun latest(pair: u64): Option<Tick> acquires Board {
    let ticks: &TableWithLength<u64, Tick>;
    LdConst address cafe; ImmBorrowGlobal Board; ImmBorrowField Board.latest; StLoc ticks;
    CopyLoc ticks; CopyLoc pair; Call 0x1::table_with_length::contains<u64, Tick>; BrFalse none;
    MoveLoc ticks; MoveLoc pair; Call 0x1::table_with_length::borrow<u64, Tick>; ReadRef;
    Call 0x1::option::some<Tick>; Ret;
  none:
    Call 0x1::option::none<Tick>; Ret;
  }
  public entry fun tick(feeder: &signer, pair: u64, price: u64, change: i64);
}

module cafe::market {
  friend cafe::settlement;

  public enum Side has copy, drop, store { Buy, Sell }
  public struct Price has copy, drop, store { units: u64, scale: u8 }
  struct Order has copy, drop, store { trader: address, side: Side, price: Price, size: u64 }
  struct Book<phantom Base, phantom Quote> has key { orders: Table<u64, Order>, next_id: u64 }
  #[event]
  struct OrderPlaced<phantom Base, phantom Quote> has drop, store {
    id: u64,
    order: Order,
    note: Option<String>,
  }
  #[event]
  struct OrderClosed<phantom Base, phantom Quote> has drop, store { id: u64, filled: bool }

  #[view]
  public fun next_id<Base, Quote>(): u64 acquires Book {
    LdConst address cafe; ImmBorrowGlobal Book<Base, Quote>;
    ImmBorrowField Book<Base, Quote>.next_id; ReadRef; Ret;
  }
  public entry fun place<Base, Quote>(
    trader: &signer, side: Side, price: Price, size: u64, note: Option<String>);
  public entry fun close<Base, Quote>(trader: &signer, id: u64);
  public(friend) fun fill<Base, Quote>(id: u64, with: |&Order, u64| bool has copy + drop): u64;
}

module cafe::settlement {
  use cafe::market::Order;

  public fun settle<Base, Quote, Venue: drop + store>(
    venue: &Venue, orders: &vector<Order>): vector<u64>;
}

module cafe::gallery {
  use 0x1::object::{DeleteRef, TransferRef};

  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Painting has key { title: String, year: u16, owners: u64, delete_ref: Option<DeleteRef> }
  #[resource_group(scope = address)]
  struct VisitorGroup {}
  #[resource_group_member(group = cafe::gallery::VisitorGroup)]
  struct Visits has key { count: u64 }
  #[resource_group_member(group = cafe::gallery::VisitorGroup)]
  struct Favourite has key { painting: Object<Painting> }
  #[event]
  struct Painted has drop, store { painting: Object<Painting>, title: String, painter: address }

  #[view]
  public fun title(painting: Object<Painting>): String acquires Painting {
    ImmBorrowLoc painting; Call 0x1::object::object_address<Painting>; ImmBorrowGlobal Painting;
    ImmBorrowField Painting.title; ReadRef; Ret;
  }
  public entry fun paint(painter: &signer, title: String, year: u16);
  public entry fun visit(visitor: &signer, favourite: Object<Painting>);
  public entry fun destroy(owner: &signer, painting: Object<Painting>);
}

module cafe::studio {
  error 1 ENOT_AN_ARTIST "Only the studio's artists can act";

  public entry fun act(artist: &signer, kind: u8, number: u64);
}

module cafe::showcase {
  use 0x1::fungible_asset::Metadata;
  use 0x1::simple_map::SimpleMap;

  public struct Point has copy, drop, store { x: i64, y: i64 }
  public enum Shape has copy, drop, store {
    Dot,
    Circle { centre: Point, radius: u32 },
    Path(vector<Point>, bool),
  }
  struct Pair<First, Second> has copy, drop, store { first: First, second: Second }
  struct Tagged<T: copy + drop, phantom Tag> has copy, drop, store { value: T }
  #[event]
  struct Shown has drop, store {
    shape: Shape,
    tall: Pair<u256, i256>,
    maybe: Option<u8>,
    lists: vector<vector<u16>>,
    words: SimpleMap<String, i8>,
    asset: Object<Metadata>,
  }

  public entry fun unsigned_numbers(
    caller: &signer, a: u8, b: u16, c: u32, d: u64, e: u128, f: u256);
  public entry fun signed_numbers(
    caller: &signer, a: i8, b: i16, c: i32, d: i64, e: i128, f: i256);
  public entry fun plain_values(caller: &signer, yes: bool, who: address, raw: vector<u8>);
  public entry fun vectors(
    caller: &signer, numbers: vector<u64>, names: vector<String>, rows: vector<vector<bool>>);
  public entry fun texts(
    caller: &signer, text: String, maybe: Option<String>, small: Option<u8>,
    nested: Option<vector<Option<u64>>>);
  public entry fun objects(
    caller: &signer, asset: Object<Metadata>, more: vector<Object<Metadata>>,
    maybe: Option<Object<Metadata>>);
  public entry fun structs(caller: &signer, point: Point, shape: Shape, path: vector<Point>);
  public entry fun generic<T: copy + drop, Tag>(
    caller: &signer, value: T, many: vector<T>, pair: Option<T>);
  public entry fun together(first: &signer, second: &signer, amount: u64);
  entry fun private_entry(caller: signer, limit: u64);
  #[randomness]
  entry fun roll(caller: &signer);
  #[view]
  public fun apply(on: &mut Pair<u64, u64>, with: |&mut u64, u64| (u64, bool) has copy): u64;
  native fun no_body(value: Tagged<u64, Point>): u64;
}

#[bytecode_version(6)]
module cafe::classic {
  use 0x1::fixed_point32::FixedPoint32;

  struct Rate<phantom CoinType> has store, key { rate: FixedPoint32, wide: u256 }
  struct Receipt { amount: u64 }

  public fun rate<CoinType>(): FixedPoint32;
  public fun give_back(receipt: Receipt): u64;
}
`;

/** Functions that upgrades of beef::clock add one by one, until the module starts over. */
export const CLOCK_MAX_HANDS = 12;

/** The module that upgrades change: upgrade n adds n hands. */
export function clockModuleText(upgrade: number): string {
  const hands = Array.from({ length: upgrade % CLOCK_MAX_HANDS }, (_, index) => index + 1);
  const functions = hands.map(
    (hand) => `  public entry fun move_hand_${hand}(owner: &signer, to: u8);\n`,
  );
  const variants = ['Stopped', ...hands.map((hand) => `Running${hand} { hand: u8 }`)];
  return `
module beef::clock {
  enum State has copy, drop, store { ${variants.join(', ')} }
  struct Clock has key { state: State, upgrade: u64 }

  #[view]
  public fun upgrade(): u64 acquires Clock {
    LdConst address beef; ImmBorrowGlobal Clock; ImmBorrowField Clock.upgrade; ReadRef; Ret;
  }
${functions.join('')}}
`;
}
