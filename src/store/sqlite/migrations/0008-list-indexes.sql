-- One index of all ended processes and one of those of a session hold every column that lists select by, in order of
-- registration, so that a list reads no record that it excludes. `end_status` is set with `ended_at`. For signatures see
-- `store/signature.ts`; rows of earlier versions have none.

alter table process add column end_status text;
alter table process add column label_signature integer;
alter table process add column definition_signature integer;
update process set end_status = case when json_valid(moving) then json_extract(moving, '$.status') end where ended_at is not null;

create index process_ended_list on process (id, end_status, kind, created_at, label_signature, definition_signature, ended_at)
  where ended_at is not null;
create index process_session_ended on process
  (session, id, end_status, kind, created_at, label_signature, definition_signature, ended_at)
  where session is not null and ended_at is not null;
drop index process_session;
create index process_parent_live on process (parent) where parent is not null and ended_at is null;
