-- A session may have a parent. `below_session` lists the processes of the sessions below a session, in order of registration and
-- apart from each other the live and the ended ones: a session lists them like its own. Rows of earlier versions have no parent.

alter table session add column parent text;
create index session_parent on session (parent, id) where parent is not null;

create table below_session (
  session text not null,
  is_ended integer not null,
  process integer not null,
  primary key (session, is_ended, process)
) strict, without rowid;
create index below_session_process on below_session (process);
