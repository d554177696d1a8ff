/**
 * What lists select ended processes by lies in an index each for all of them and for those of a session, in order of
 * registration, so that a list reads no record that it leaves out. `end_status` is set with `ended_at`; for signatures see
 * `store/signature.ts`: rows of earlier versions have none.
 */
export const sql = `
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
`
