/**
 * Who has read, taken and acknowledged what. One event may say two things, now and later, so a notice is unique with its
 * kind. `done` and `observed` lie with the notice, so that they go when it goes. The newest notice of a scope, and those that
 * are not done, are found without a look at the rest.
 */
export const sql = `
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
`
