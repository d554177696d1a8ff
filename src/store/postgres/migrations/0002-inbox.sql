-- Inboxes: who has read, taken and acknowledged which notice. A commit compares an inbox like a session: `kind` inbox among
-- the guards, locked after groups and before accounts.

alter table reeve.notice add column done text;
alter table reeve.notice add column observed text;
drop index reeve.notice_source;
create unique index notice_source on reeve.notice (pid, seq, scope, kind);
create index notice_open on reeve.notice (scope, place) where done is null;

create table reeve.inbox (
  scope text collate "C" primary key,
  version bigint not null,
  tripped boolean not null,
  body text not null
);
create index inbox_tripped on reeve.inbox (scope) where tripped;
