-- Run this instead of postgres-roles.sql, once, on the coordinator, in the database `daybook`, as its administrator:
-- psql --file citus.sql daybook. Every server needs that database, with `create extension citus`. Change addresses and
-- passwords. Citus makes the roles on the workers.
select citus_set_coordinator_host('10.0.0.1');
select citus_add_node('10.0.0.2', 5432);
select citus_add_node('10.0.0.3', 5432);
create role daybook_writer login password 'writer-secret';
create role daybook_reader login password 'reader-secret';
grant create on database daybook to daybook_writer;
-- When a lost worker returns, the transactions that it had prepared are committed or rolled back.
grant execute on function recover_prepared_transactions() to daybook_writer;
-- The writer makes the ledger's schema and tables. Readers may read them, and nothing else.
alter default privileges for role daybook_writer grant usage on schemas to daybook_reader;
alter default privileges for role daybook_writer grant select on tables to daybook_reader;
select run_command_on_workers('alter default privileges for role daybook_writer grant usage on schemas to daybook_reader');
select run_command_on_workers('alter default privileges for role daybook_writer grant select on tables to daybook_reader');
