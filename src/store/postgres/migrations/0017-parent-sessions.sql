-- A session may have a parent. `below_session` lists the processes of the sessions below a session, in order of registration and
-- apart from each other the live and the ended ones: a session lists them like its own. Rows of earlier versions have no parent.

alter table reeve.session add column parent text collate "C";
create index session_parent on reeve.session (parent, id) where parent is not null;

create table reeve.below_session (
  session text collate "C" not null,
  is_ended boolean not null,
  process bigint not null,
  primary key (session, is_ended, process)
);
create index below_session_process on reeve.below_session (process);
