-- Returns the last commit of a store that happened, and raises the store's fence: a commit that the store sent before
-- carries the old fence and can no longer happen. Waits for a commit that is under way.
create or replace function reeve.settle(p_store text, out fence bigint, out commit bigint, out "position" bigint) language sql
set lock_timeout = 0 as
$body$
  insert into reeve.writer as w (store, fence, commit, at) values (p_store, 1, 0, clock_timestamp())
    on conflict (store) do update set fence = w.fence + 1, at = clock_timestamp()
    returning w.fence, w.commit, w.position
$body$;
