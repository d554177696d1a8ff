-- One index of all ended processes and one of those of a session hold every column that lists select by, in order of
-- registration, so that a list reads no record that it excludes. `end_status` is set with `ended_at`. For signatures see
-- `store/signature.ts`; rows of earlier versions have none.

alter table reeve.process
  add column end_status text collate "C",
  add column label_signature bigint,
  add column definition_signature bigint;
update reeve.process set end_status = substring(moving from '"status":"([a-z]+)"') where ended_at is not null;

create index process_ended_list on reeve.process
  (id, end_status, kind, created_at, label_signature, definition_signature) where ended_at is not null;
create index process_session_ended on reeve.process
  (session, id, end_status, kind, created_at, label_signature, definition_signature)
  where session is not null and ended_at is not null;
drop index reeve.process_session;
create index process_parent_live on reeve.process (parent, id) where parent is not null and ended_at is null;
