-- Keeps the row of a store that writes nothing fresh, so that commits of other stores still notify it (finish_commit).
-- Returns the position after the commits that are under way. The counter is locked first, in the order of commits.
create or replace function reeve.stay(p_store text) returns bigint language plpgsql as
$body$
declare
  v_position bigint;
begin
  select m.position into v_position from reeve.meta m for share;
  update reeve.writer set at = clock_timestamp() where store = p_store;
  return v_position;
end
$body$;
