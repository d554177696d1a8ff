/**
 * The tables as SQLite has them, with two differences. Rows that decisions are made on carry a `version`, which rises
 * with every write: a commit compares it with the one the decision saw. And `writer` has a row per open store, so
 * that a store whose connection broke during a commit can find out whether it happened (see `settle`).
 *
 * What registration fixed comes first in a row: an update logs only what follows. Of a record only the fields that
 * events move are kept: the rest is in its first event.
 *
 * JSON is kept as text: jsonb would reorder keys and cannot hold a NUL character. Keys are compared byte by byte
 * (`collate "C"`), whatever the database's own collation.
 *
 * `at` is the quoted schema with a dot.
 */
export const sql = (at: string) => `
create table ${at}process (
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
create unique index process_pid on ${at}process (pid);
create index process_due on ${at}process (kind, id) where due is not null;
create index process_holder on ${at}process (holder, id) where holder is not null;
create index process_carry on ${at}process (id) where carry is not null;
create index process_name on ${at}process (name) where name is not null;
create index process_parent on ${at}process (parent) where parent is not null;
create index process_root on ${at}process (root) where parent is not null;
create index process_session on ${at}process (session) where session is not null;
create index process_wake on ${at}process (wake_target) where wake_target is not null and ended_at is null;
create index process_live on ${at}process (id) where ended_at is null;
create index process_ended on ${at}process (ended_at, id) where ended_at is not null;

create table ${at}event (
  position bigint primary key,
  pid text collate "C" not null,
  seq bigint not null,
  type text not null,
  at bigint not null,
  actor text not null,
  replay_key text collate "C",
  payload text not null
);
create unique index event_seq on ${at}event (pid, seq);
create unique index event_replay on ${at}event (pid, replay_key) where replay_key is not null;

create table ${at}tombstone (
  pid text collate "C" primary key,
  fence bigint not null,
  ended_at bigint not null,
  pruned_at bigint not null
);

create table ${at}holder (
  id text collate "C" primary key,
  body text not null,
  renewed_at bigint not null,
  expires_at bigint not null
);

create table ${at}session (
  id text collate "C" primary key,
  version bigint not null,
  carry boolean not null,
  body text not null
);
create index session_carry on ${at}session (id) where carry;

create table ${at}turn (
  session text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  carry boolean not null,
  body text not null,
  primary key (session, id)
);
create index turn_carry on ${at}turn (session, id) where carry;

create table ${at}process_group (
  id text collate "C" primary key,
  version bigint not null,
  body text not null
);

create table ${at}visible (
  session text collate "C" not null,
  pid text collate "C" not null,
  descriptor text not null,
  at bigint not null,
  primary key (session, pid)
);
create index visible_pid on ${at}visible (pid);

create table ${at}environment (
  ref text collate "C" primary key,
  body text not null
);

create table ${at}notice (
  place bigint generated always as identity primary key,
  scope text collate "C" not null,
  pid text collate "C" not null,
  seq bigint not null,
  kind text not null,
  at bigint not null,
  payload text not null,
  reply_to text not null
);
create index notice_scope on ${at}notice (scope, place);
create unique index notice_source on ${at}notice (pid, seq, scope);

create table ${at}meta (
  id integer primary key check (id = 1),
  position bigint not null,
  pruned_through bigint not null,
  live bigint not null,
  secret text not null
) with (fillfactor = 10);
insert into ${at}meta values (1, 0, 0, 0, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

create table ${at}writer (
  store text collate "C" primary key,
  fence bigint not null,
  commit bigint not null,
  position bigint,
  at timestamptz not null
) with (fillfactor = 10);
`
