/**
 * Who has read, taken and acknowledged what, as SQLite has it. An inbox's row is compared like a session's: `kind` inbox in
 * what is guarded, locked after groups and before holders.
 */
export const sql = (at: string) => `
alter table ${at}notice add column done text;
alter table ${at}notice add column observed text;
drop index ${at}notice_source;
create unique index notice_source on ${at}notice (pid, seq, scope, kind);
create index notice_open on ${at}notice (scope, place) where done is null;

create table ${at}inbox (
  scope text collate "C" primary key,
  version bigint not null,
  tripped boolean not null,
  body text not null
);
create index inbox_tripped on ${at}inbox (scope) where tripped;
`
