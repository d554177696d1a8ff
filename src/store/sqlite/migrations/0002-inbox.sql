-- Inboxes: who has read, taken and acknowledged which notice. One event may make two notices of different kinds, so the key
-- of a notice includes its kind. `done` and `observed` are columns of the notice, so that they are deleted with it. Indexes
-- find the newest notice of a scope, and the notices that are not done.

alter table notice add column done text;
alter table notice add column observed text;
drop index notice_source;
create unique index notice_source on notice (scope, process, seq, kind);
create index notice_scope on notice (scope, place);
create index notice_open on notice (scope, place) where done is null;

create table inbox (
  scope text primary key,
  tripped integer not null,
  body text not null
) strict, without rowid;
create index inbox_tripped on inbox (tripped) where tripped = 1;
