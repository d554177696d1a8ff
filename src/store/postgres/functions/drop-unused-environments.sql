-- Deletes those of these environments that have no use left.
create or replace function reeve.drop_unused_environments(p_refs text[]) returns void language plpgsql as
$body$
begin
  perform from reeve.environment e where e.ref = any (p_refs) order by e.ref for update;
  -- A statement of its own, so that it sees the uses that were committed while the one above waited for the locks.
  delete from reeve.environment e
    where e.ref = any (p_refs) and not exists (select from reeve.environment_use u where u.ref = e.ref);
end
$body$;
