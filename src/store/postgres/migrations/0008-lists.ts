/**
 * What lists select ended processes by lies in an index each for all of them and for those of a session, in order of
 * registration, so that a list reads no record that it leaves out. `end_status` is set with `ended_at`; for signatures see
 * `store/signature.ts`: rows of earlier versions have none.
 */
export const sql = (at: string) => `
alter table ${at}process
  add column end_status text collate "C",
  add column label_signature bigint,
  add column definition_signature bigint;
update ${at}process set end_status = substring(moving from '"status":"([a-z]+)"') where ended_at is not null;

create index process_ended_list on ${at}process
  (id, end_status, kind, created_at, label_signature, definition_signature) where ended_at is not null;
create index process_session_ended on ${at}process
  (session, id, end_status, kind, created_at, label_signature, definition_signature)
  where session is not null and ended_at is not null;
drop index ${at}process_session;
create index process_parent_live on ${at}process (parent, id) where parent is not null and ended_at is null;
`
