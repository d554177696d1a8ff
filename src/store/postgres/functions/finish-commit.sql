-- The end of every commit: records its number for the store, and notifies the other stores.
create or replace function reeve.finish_commit(
  p_store text, p_fence bigint, p_commit bigint, p_channel text, p_position bigint
) returns void language plpgsql as
$body$
begin
  update reeve.writer w set commit = p_commit, position = p_position, at = clock_timestamp()
    where w.store = p_store and w.fence = p_fence;
  if not found then
    raise exception 'This store has given up this commit' using errcode = 'RV002';
  end if;
  -- A notification takes a lock that all commits compete for, so it is sent only if another store is open. A store that
  -- opens writes its row, then listens, then waits for the counter: it reads what was committed before, and all later
  -- commits find its row here.
  if p_channel is not null and (p_position is null or exists (
      select from reeve.writer w where w.store <> p_store and w.at > clock_timestamp() - interval '3 minutes')) then
    perform pg_notify(p_channel,
      p_store || ':' || coalesce(p_position, (select m.position from reeve.meta m)));
  end if;
end
$body$;
