-- `process.id` and `event.position` only grow, so that rows of one commit are adjacent; random pids are looked up through one
-- index. Partial indexes hold live processes only. The table has only the fields of a record that events change: the others
-- are in its first event.

create table process (
  id integer primary key,
  pid text not null unique,
  revision integer not null,
  fence integer not null,
  holder text,
  carry text,
  due integer,
  kind text not null,
  target text,
  name text,
  parent text,
  root text not null,
  session text,
  wake_target text,
  created_at integer not null,
  ended_at integer,
  moving text not null
) strict;
create index process_due on process (kind) where due is not null;
create index process_holder on process (holder) where holder is not null;
create index process_carry on process (carry) where carry is not null;
create index process_name on process (name) where name is not null;
create index process_parent on process (parent) where parent is not null;
create index process_root on process (root) where parent is not null;
create index process_session on process (session) where session is not null;
create index process_wake on process (wake_target) where wake_target is not null and ended_at is null;
create index process_live on process (id) where ended_at is null;
create index process_ended on process (ended_at) where ended_at is not null;

create table event (
  position integer primary key,
  process integer not null,
  seq integer not null,
  type text not null,
  at integer not null,
  actor text not null,
  replay_key text,
  payload text not null
) strict;
create unique index event_seq on event (process, seq);
create unique index event_replay on event (process, replay_key) where replay_key is not null;

create table tombstone (
  pid text primary key,
  fence integer not null,
  ended_at integer not null,
  pruned_at integer not null
) strict, without rowid;

create table holder (
  id text primary key,
  body text not null,
  renewed_at integer not null,
  expires_at integer not null
) strict, without rowid;

create table session (
  id text primary key,
  carry integer not null,
  body text not null
) strict, without rowid;
create index session_carry on session (carry) where carry = 1;

create table turn (
  session text not null,
  id text not null,
  carry integer not null,
  body text not null,
  primary key (session, id)
) strict, without rowid;
create index turn_carry on turn (carry) where carry = 1;

create table process_group (
  id text primary key,
  body text not null
) strict, without rowid;

create table visible (
  session text not null,
  pid text not null,
  descriptor text not null,
  at integer not null,
  primary key (session, pid)
) strict, without rowid;
create index visible_pid on visible (pid);

create table environment (
  ref text primary key,
  body text not null
) strict, without rowid;

create table notice (
  place integer primary key autoincrement,
  scope text not null,
  process integer not null,
  pid text not null,
  seq integer not null,
  kind text not null,
  at integer not null,
  payload text not null,
  reply_to text not null
) strict;
create unique index notice_source on notice (scope, process, seq);

create table meta (
  id integer primary key check (id = 1),
  position integer not null,
  pruned_through integer not null,
  live integer not null,
  secret text not null
) strict;
insert into meta values (1, 0, 0, 0, lower(hex(randomblob(32))));
