-- The tables of SQLite, with two differences. Rows that decisions are made on carry a `version`, which changes with every
-- write: a commit compares it with the version that the decision read. And `writer` has a row per open store, so that a
-- store whose connection broke during a commit can find out whether it happened (see `settle`).
--
-- The columns that never change come first in a row: the log of an update has only what follows the first change. The table
-- has only the fields of a record that events change: the others are in its first event.
--
-- JSON is stored as text: jsonb would reorder keys and cannot hold a NUL character. Keys are compared byte by byte
-- (`collate "C"`), independent of the database's collation.

create table reeve.process (
  id bigint generated always as identity primary key,
  pid text collate "C" not null,
  kind text not null,
  target text collate "C",
  name text collate "C",
  parent text collate "C",
  root text collate "C" not null,
  created_at bigint not null,
  version bigint not null,
  revision bigint not null,
  fence bigint not null,
  holder text collate "C",
  carry text,
  due bigint,
  session text collate "C",
  wake_target text collate "C",
  ended_at bigint,
  moving text not null
) with (fillfactor = 70);
create unique index process_pid on reeve.process (pid);
create index process_due on reeve.process (kind, id) where due is not null;
create index process_holder on reeve.process (holder, id) where holder is not null;
create index process_carry on reeve.process (id) where carry is not null;
create index process_name on reeve.process (name) where name is not null;
create index process_parent on reeve.process (parent) where parent is not null;
create index process_root on reeve.process (root) where parent is not null;
create index process_session on reeve.process (session) where session is not null;
create index process_wake on reeve.process (wake_target) where wake_target is not null and ended_at is null;
create index process_live on reeve.process (id) where ended_at is null;
create index process_ended on reeve.process (ended_at, id) where ended_at is not null;

create table reeve.event (
  position bigint primary key,
  pid text collate "C" not null,
  seq bigint not null,
  type text not null,
  at bigint not null,
  actor text not null,
  replay_key text collate "C",
  payload text not null
);
create unique index event_seq on reeve.event (pid, seq);
create unique index event_replay on reeve.event (pid, replay_key) where replay_key is not null;

create table reeve.tombstone (
  pid text collate "C" primary key,
  fence bigint not null,
  ended_at bigint not null,
  pruned_at bigint not null
);

create table reeve.holder (
  id text collate "C" primary key,
  body text not null,
  renewed_at bigint not null,
  expires_at bigint not null
);

create table reeve.session (
  id text collate "C" primary key,
  version bigint not null,
  carry boolean not null,
  body text not null
);
create index session_carry on reeve.session (id) where carry;

create table reeve.turn (
  session text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  carry boolean not null,
  body text not null,
  primary key (session, id)
);
create index turn_carry on reeve.turn (session, id) where carry;

create table reeve.process_group (
  id text collate "C" primary key,
  version bigint not null,
  body text not null
);

create table reeve.visible (
  session text collate "C" not null,
  pid text collate "C" not null,
  descriptor text not null,
  at bigint not null,
  primary key (session, pid)
);
create index visible_pid on reeve.visible (pid);

create table reeve.environment (
  ref text collate "C" primary key,
  body text not null
);

create table reeve.notice (
  place bigint generated always as identity primary key,
  scope text collate "C" not null,
  pid text collate "C" not null,
  seq bigint not null,
  kind text not null,
  at bigint not null,
  payload text not null,
  reply_to text not null
);
create index notice_scope on reeve.notice (scope, place);
create unique index notice_source on reeve.notice (pid, seq, scope);

create table reeve.meta (
  id integer primary key check (id = 1),
  position bigint not null,
  pruned_through bigint not null,
  live bigint not null,
  secret text not null
) with (fillfactor = 10);
insert into reeve.meta values (1, 0, 0, 0, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

create table reeve.writer (
  store text collate "C" primary key,
  fence bigint not null,
  commit bigint not null,
  position bigint,
  at timestamptz not null
) with (fillfactor = 10);
