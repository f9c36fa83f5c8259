/**
 * The applications of the sample ledger: modules of CAFE with tables, event streams, objects, resource groups,
 * generics, enums, views, friends, old bytecode and every kind of argument, and a module of BEEF that is upgraded
 * repeatedly. Their code is our own, in the language of assembler/declare-parse.ts.
 */
import type { Address } from '../move/types/address.ts';
import { namedObjectAddress } from '../move/types/derived-address.ts';
import { type AssembledModule, assembleModules } from './assembler/assemble.ts';
import { parseModules } from './assembler/declare-parse.ts';
import { FRAMEWORK } from './framework.ts';
import { BEEF, CAFE } from './publishers.ts';

/** Named addresses of the declarations. */
const ADDRESSES: ReadonlyMap<string, Address> = new Map([
  ['cafe', CAFE],
  ['beef', BEEF],
]);

/** The address of the metadata of the asset that `cafe::gold` issues. */
export const GOLD: Address = namedObjectAddress(CAFE, 'gold');

const APPLICATIONS = `
module cafe::sample {
  struct Sample has key { generator: u64, seed: u64, accounts: u64 }

  #[view]
  public fun seed(): u64 acquires Sample {
    LdConst address cafe; ImmBorrowGlobal Sample; ImmBorrowField Sample.seed; ReadRef; Ret;
  }
  public entry fun describe(publisher: &signer, generator: u64, seed: u64, accounts: u64) {
    MoveLoc publisher; MoveLoc generator; MoveLoc seed; MoveLoc accounts;
    Pack Sample; MoveTo Sample; Ret;
  }
}

module cafe::moon_coin {
  struct MoonCoin {}
}

module cafe::gold {
  use 0x1::fungible_asset::MintRef;
  use 0x1::object::ConstructorRef;

  fun init_module(issuer: &signer) {
    let asset: ConstructorRef;
    let mint: MintRef;
    CopyLoc issuer; LdConst vector<u8> "gold"; Call 0x1::object::create_named_object; StLoc asset;
    ImmBorrowLoc asset; Call 0x1::option::none<u128>;
    LdConst vector<u8> "Gold"; Call 0x1::string::utf8;
    LdConst vector<u8> "AU"; Call 0x1::string::utf8;
    LdU8 3;
    LdConst vector<u8> "https://example.com/gold.svg"; Call 0x1::string::utf8;
    LdConst vector<u8> "https://example.com/"; Call 0x1::string::utf8;
    Call 0x1::primary_fungible_store::create_primary_store_enabled_fungible_asset;
    ImmBorrowLoc asset; Call 0x1::fungible_asset::generate_mint_ref; StLoc mint;
    ImmBorrowLoc mint; MoveLoc issuer; Call 0x1::signer::address_of; LdU64 1000000000000000000;
    Call 0x1::primary_fungible_store::mint; Ret;
  }
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
  fun mood_of(words: u64): Mood {
    CopyLoc words; LdU64 3; Mod; LdU64 0; Eq; BrTrue calm;
    CopyLoc words; LdU64 3; Mod; LdU64 1; Eq; BrTrue busy;
    CopyLoc words; MoveLoc words; LdU64 2; Mod; LdU64 0; Eq; PackVariant Mood.Away; Ret;
  busy:
    MoveLoc words; PackVariant Mood.Busy; Ret;
  calm:
    PackVariant Mood.Calm; Ret;
  }
  public entry fun write(author: &signer, text: String) acquires Journal {
    let owner: address;
    let length: u64;
    let mood: Mood;
    let journal: &mut Journal;
    let number: u64;
    ImmBorrowLoc text; Call 0x1::string::length; StLoc length;
    CopyLoc length; LdU64 0; Gt; BrTrue open;
    MoveLoc author; Pop; LdU64 1; Abort;
  open:
    CopyLoc author; Call 0x1::signer::address_of; StLoc owner;
    CopyLoc owner; Exists Journal; BrTrue found;
    CopyLoc author; CopyLoc author; Call 0x1::account::new_event_handle<Entry>;
    PackVariant Mood.Calm; Pack Journal; MoveTo Journal;
  found:
    MoveLoc author; Pop;
    CopyLoc length; Call mood_of; StLoc mood;
    MoveLoc owner; MutBorrowGlobal Journal; StLoc journal;
    CopyLoc mood; CopyLoc journal; MutBorrowField Journal.last_mood; WriteRef;
    CopyLoc journal; ImmBorrowField Journal.entries; Call 0x1::event::counter<Entry>; StLoc number;
    MoveLoc journal; MutBorrowField Journal.entries;
    MoveLoc number; MoveLoc mood; MoveLoc text; Call 0x1::timestamp::now_microseconds; Pack Entry;
    Call 0x1::event::emit_event<Entry>; Ret;
  }
}

module cafe::ticker {
  use 0x1::table_with_length::TableWithLength;

  struct Board has key { ticks: EventHandle<Tick>, latest: TableWithLength<u64, Tick> }
  struct Tick has copy, drop, store { pair: u64, price: u64, change: i64, at: u64 }

  fun init_module(feeder: &signer) {
    CopyLoc feeder; MoveLoc feeder; Call 0x1::account::new_event_handle<Tick>;
    Call 0x1::table_with_length::new<u64, Tick>; Pack Board; MoveTo Board; Ret;
  }
  #[view]
  public fun latest(pair: u64): Option<Tick> acquires Board {
    let ticks: &TableWithLength<u64, Tick>;
    LdConst address cafe; ImmBorrowGlobal Board; ImmBorrowField Board.latest; StLoc ticks;
    CopyLoc ticks; CopyLoc pair; Call 0x1::table_with_length::contains<u64, Tick>; BrFalse none;
    MoveLoc ticks; MoveLoc pair; Call 0x1::table_with_length::borrow<u64, Tick>; ReadRef;
    Call 0x1::option::some<Tick>; Ret;
  none:
    MoveLoc ticks; Pop; Call 0x1::option::none<Tick>; Ret;
  }
  public entry fun tick(feeder: &signer, pair: u64, price: u64, change: i64) acquires Board {
    let board: &mut Board;
    let tick: Tick;
    MoveLoc feeder; Pop;
    LdConst address cafe; MutBorrowGlobal Board; StLoc board;
    CopyLoc pair; MoveLoc price; MoveLoc change; Call 0x1::timestamp::now_microseconds; Pack Tick;
    StLoc tick;
    CopyLoc board; MutBorrowField Board.latest; MoveLoc pair; CopyLoc tick;
    Call 0x1::table_with_length::upsert<u64, Tick>;
    MoveLoc board; MutBorrowField Board.ticks; MoveLoc tick; Call 0x1::event::emit_event<Tick>; Ret;
  }
}

module cafe::market {
  friend cafe::settlement;
  error 1 ENO_OPEN_ORDER "Every order is closed";

  enum Side has copy, drop, store { Buy, Sell }
  struct Price has copy, drop, store { units: u64, scale: u8 }
  struct Order has copy, drop, store { trader: address, side: Side, price: Price, size: u64 }
  struct Book<phantom Base, phantom Quote> has key {
    orders: Table<u64, Order>,
    first_id: u64,
    next_id: u64,
  }
  #[event]
  struct OrderPlaced<phantom Base, phantom Quote> has drop, store {
    id: u64,
    order: Order,
    note: Option<String>,
  }
  #[event]
  struct OrderClosed<phantom Base, phantom Quote> has drop, store { id: u64, filled: bool }

  public entry fun open<Base, Quote>(owner: &signer) {
    MoveLoc owner; Call 0x1::table::new<u64, Order>; LdU64 0; LdU64 0; Pack Book<Base, Quote>;
    MoveTo Book<Base, Quote>; Ret;
  }
  #[view]
  public fun next_id<Base, Quote>(): u64 acquires Book {
    LdConst address cafe; ImmBorrowGlobal Book<Base, Quote>;
    ImmBorrowField Book<Base, Quote>.next_id; ReadRef; Ret;
  }
  public entry fun place<Base, Quote>(
    trader: &signer, sells: bool, units: u64, scale: u8, size: u64, note: Option<String>
  ) acquires Book {
    let book: &mut Book<Base, Quote>;
    let id: u64;
    let side: Side;
    let order: Order;
    MoveLoc sells; BrTrue sell;
    PackVariant Side.Buy; StLoc side; Branch ready;
  sell:
    PackVariant Side.Sell; StLoc side;
  ready:
    MoveLoc trader; Call 0x1::signer::address_of; MoveLoc side; MoveLoc units; MoveLoc scale;
    Pack Price; MoveLoc size; Pack Order; StLoc order;
    LdConst address cafe; MutBorrowGlobal Book<Base, Quote>; StLoc book;
    CopyLoc book; ImmBorrowField Book<Base, Quote>.next_id; ReadRef; StLoc id;
    CopyLoc id; LdU64 1; Add; CopyLoc book; MutBorrowField Book<Base, Quote>.next_id; WriteRef;
    MoveLoc book; MutBorrowField Book<Base, Quote>.orders; CopyLoc id; CopyLoc order;
    Call 0x1::table::add<u64, Order>;
    MoveLoc id; MoveLoc order; MoveLoc note; Pack OrderPlaced<Base, Quote>;
    Call 0x1::event::emit<OrderPlaced<Base, Quote>>; Ret;
  }
  public entry fun close<Base, Quote>(trader: &signer) acquires Book {
    let order: Order;
    let id: u64;
    MoveLoc trader; Pop; Call take_oldest<Base, Quote>; StLoc order; StLoc id;
    MoveLoc id; ImmBorrowLoc order; ImmBorrowField Order.side; TestVariant Side.Sell;
    Pack OrderClosed<Base, Quote>; Call 0x1::event::emit<OrderClosed<Base, Quote>>; Ret;
  }
  public(friend) fun take_oldest<Base, Quote>(): (u64, Order) acquires Book {
    let book: &mut Book<Base, Quote>;
    let id: u64;
    LdConst address cafe; MutBorrowGlobal Book<Base, Quote>; StLoc book;
    CopyLoc book; ImmBorrowField Book<Base, Quote>.first_id; ReadRef; StLoc id;
    CopyLoc id; CopyLoc book; ImmBorrowField Book<Base, Quote>.next_id; ReadRef; Lt; BrTrue found;
    MoveLoc book; Pop; LdU64 1; Abort;
  found:
    CopyLoc id; LdU64 1; Add; CopyLoc book; MutBorrowField Book<Base, Quote>.first_id; WriteRef;
    CopyLoc id; MoveLoc book; MutBorrowField Book<Base, Quote>.orders; MoveLoc id;
    Call 0x1::table::remove<u64, Order>; Ret;
  }
}

module cafe::settlement {
  use cafe::market::Order;

  public entry fun settle<Base, Quote>(trader: &signer) {
    let order: Order;
    MoveLoc trader; Pop; Call cafe::market::take_oldest<Base, Quote>; StLoc order; Pop; Ret;
  }
}

module cafe::gallery {
  use 0x1::object::ConstructorRef;
  use 0x1::object::DeleteRef;

  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Painting has key { title: String, year: u16, delete_ref: DeleteRef }
  struct Easel has key { painting: address }
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
  public entry fun paint(
    painter: &signer, title: String, year: u16
  ) acquires Easel, Painting {
    let owner: address;
    let object: ConstructorRef;
    let maker: signer;
    let place: address;
    CopyLoc painter; Call 0x1::signer::address_of; StLoc owner;
    CopyLoc owner; Call 0x1::object::create_object; StLoc object;
    ImmBorrowLoc object; Call 0x1::object::generate_signer; StLoc maker;
    ImmBorrowLoc maker; CopyLoc title; MoveLoc year;
    ImmBorrowLoc object; Call 0x1::object::generate_delete_ref; Pack Painting; MoveTo Painting;
    ImmBorrowLoc maker; Call 0x1::signer::address_of; StLoc place;
    CopyLoc owner; Exists Easel; BrTrue again;
    MoveLoc painter; MoveLoc place; Pack Easel; MoveTo Easel; Branch done;
  again:
    MoveLoc painter; Pop; CopyLoc owner; MoveLoc place; Call replace;
  done:
    ImmBorrowLoc object; Call 0x1::object::object_from_constructor_ref<Painting>;
    MoveLoc title; MoveLoc owner; Pack Painted; Call 0x1::event::emit<Painted>; Ret;
  }
  fun replace(owner: address, place: address) acquires Easel, Painting {
    let easel: &mut Easel;
    let old: address;
    let delete: DeleteRef;
    MoveLoc owner; MutBorrowGlobal Easel; StLoc easel;
    CopyLoc easel; ImmBorrowField Easel.painting; ReadRef; StLoc old;
    MoveLoc place; MoveLoc easel; MutBorrowField Easel.painting; WriteRef;
    MoveLoc old; MoveFrom Painting; Unpack Painting; StLoc delete; Pop; Pop;
    MoveLoc delete; Call 0x1::object::delete; Ret;
  }
  public entry fun visit(visitor: &signer, painter: address) acquires Easel, Visits, Favourite {
    let who: address;
    let painting: Object<Painting>;
    let count: &mut u64;
    MoveLoc painter; ImmBorrowGlobal Easel; ImmBorrowField Easel.painting; ReadRef;
    Call 0x1::object::address_to_object<Painting>; StLoc painting;
    CopyLoc visitor; Call 0x1::signer::address_of; StLoc who;
    CopyLoc who; Exists Visits; BrTrue again;
    CopyLoc visitor; LdU64 1; Pack Visits; MoveTo Visits;
    MoveLoc visitor; MoveLoc painting; Pack Favourite; MoveTo Favourite; Ret;
  again:
    MoveLoc visitor; Pop;
    CopyLoc who; MutBorrowGlobal Visits; MutBorrowField Visits.count; StLoc count;
    CopyLoc count; ReadRef; LdU64 1; Add; MoveLoc count; WriteRef;
    MoveLoc painting; MoveLoc who; MutBorrowGlobal Favourite; MutBorrowField Favourite.painting;
    WriteRef; Ret;
  }
}

module cafe::showcase {
  use 0x1::fungible_asset::Metadata;
  use 0x1::simple_map::SimpleMap;

  struct Point has copy, drop, store { x: i64, y: i64 }
  enum Shape has copy, drop, store {
    Dot,
    Circle { centre: Point, radius: u32 },
    Path(vector<Point>, bool),
  }
  struct Pair<First, Second> has copy, drop, store { first: First, second: Second }
  #[event]
  struct Shown has drop, store {
    shape: Shape,
    tall: Pair<u256, i256>,
    maybe: Option<u8>,
    lists: vector<vector<u16>>,
    words: SimpleMap<String, i8>,
    asset: Object<Metadata>,
  }

  fun shape_of(number: u64): Shape {
    CopyLoc number; LdU64 3; Mod; LdU64 0; Eq; BrTrue dot;
    CopyLoc number; LdU64 3; Mod; LdU64 1; Eq; BrTrue circle;
    CopyLoc number; CastI64; LdI64 -7; Pack Point; VecPack <Point> 1;
    MoveLoc number; LdU64 2; Mod; LdU64 0; Eq; PackVariant Shape.Path; Ret;
  circle:
    LdI64 -500; LdI64 500; Pack Point; MoveLoc number; CastU32; PackVariant Shape.Circle; Ret;
  dot:
    PackVariant Shape.Dot; Ret;
  }
  public entry fun show(caller: &signer, number: u32) {
    MoveLoc caller; Pop;
    CopyLoc number; CastU64; Call shape_of;
    CopyLoc number; CastU256; CopyLoc number; CastI256; Negate; Pack Pair<u256, i256>;
    CopyLoc number; LdU32 256; Mod; CastU8; Call 0x1::option::some<u8>;
    VecPack <u16> 0; LdU16 1; VecPack <u16> 1; VecPack <vector<u16>> 2;
    Call 0x1::simple_map::new<String, i8>;
    LdConst address 0x${GOLD}; Call 0x1::object::address_to_object<Metadata>;
    Pack Shown; Call 0x1::event::emit<Shown>; Ret;
  }
  public entry fun unsigned_numbers(
    caller: &signer, a: u8, b: u16, c: u32, d: u64, e: u128, f: u256) { Ret; }
  public entry fun signed_numbers(
    caller: &signer, a: i8, b: i16, c: i32, d: i64, e: i128, f: i256) { Ret; }
  public entry fun plain_values(caller: &signer, yes: bool, who: address, raw: vector<u8>) { Ret; }
  public entry fun vectors(
    caller: &signer, numbers: vector<u64>, names: vector<String>, rows: vector<vector<bool>>
  ) { Ret; }
  public entry fun texts(
    caller: &signer, text: String, maybe: Option<String>, small: Option<u8>,
    nested: Option<vector<Option<u64>>>) { Ret; }
  public entry fun objects(
    caller: &signer, asset: Object<Metadata>, more: vector<Object<Metadata>>,
    maybe: Option<Object<Metadata>>) { Ret; }
  public entry fun generic<T: copy + drop, Tag>(caller: &signer, number: u64) { Ret; }
  public entry fun together(first: &signer, second: &signer, amount: u64) {
    MoveLoc second; MoveLoc first; Call 0x1::signer::address_of; MoveLoc amount;
    Call 0x1::aptos_account::transfer; Ret;
  }
  entry fun endless(caller: &signer) {
    MoveLoc caller; Pop;
  again:
    Branch again;
  }
  entry fun overflow(caller: &signer, number: u64) {
    MoveLoc caller; Pop; LdU64 0; MoveLoc number; Sub; Pop; Ret;
  }
}

#[bytecode_version(6)]
module cafe::classic {
  use 0x1::fixed_point32::FixedPoint32;

  struct Receipt { amount: u64 }

  #[view]
  public fun rate(sold: u64, bought: u64): FixedPoint32 {
    MoveLoc sold; MoveLoc bought; Call 0x1::fixed_point32::create_from_rational; Ret;
  }
  public fun give_back(receipt: Receipt): u64 {
    MoveLoc receipt; Unpack Receipt; Ret;
  }
}
`;

/** Number of upgrades that change beef::clock. Each adds one hand. */
export const CLOCK_MAX_HANDS = 12;

function clockText(hands: number): string {
  const numbers = Array.from({ length: hands }, (_, index) => index + 1);
  const functions = numbers.map(
    (hand) => `  public entry fun move_hand_${hand}(owner: &signer, to: u8) { Ret; }\n`,
  );
  const variants = ['Stopped', ...numbers.map((hand) => `Running${hand} { hand: u8 }`)];
  return `
module beef::clock {
  enum State has copy, drop, store { ${variants.join(', ')} }
  struct Clock has key { state: State }

  fun init_module(owner: &signer) {
    MoveLoc owner; PackVariant State.Stopped; Pack Clock; MoveTo Clock; Ret;
  }
  #[view]
  public fun is_stopped(): bool acquires Clock {
    LdConst address beef; ImmBorrowGlobal Clock; ImmBorrowField Clock.state;
    TestVariant State.Stopped; Ret;
  }
${functions.join('')}}
`;
}

function assemble(text: string): AssembledModule[] {
  return assembleModules(parseModules(text, ADDRESSES), parseModules(FRAMEWORK));
}

/** The modules of CAFE. A module comes before the modules that use it. */
export function applicationModules(): readonly AssembledModule[] {
  return assemble(APPLICATIONS);
}

/** The module of BEEF. @param hands 0 to CLOCK_MAX_HANDS */
export function clockModule(hands: number): AssembledModule {
  return assemble(clockText(hands))[0]!;
}
