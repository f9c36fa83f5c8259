-- Run this once, on the primary, as its administrator: psql --file postgres-roles.sql postgres. Change the passwords.
-- No standby exists yet, so a commit would wait for one.
set synchronous_commit = local;
create role daybook_writer login password 'writer-secret';
create role daybook_reader login password 'reader-secret';
create role daybook_replicator login replication password 'replicator-secret';
create database daybook owner daybook_writer;

\connect daybook
set synchronous_commit = local;
-- The writer makes the ledger's schema and tables. Readers may read them, and nothing else.
alter default privileges for role daybook_writer grant usage on schemas to daybook_reader;
alter default privileges for role daybook_writer grant select on tables to daybook_reader;
