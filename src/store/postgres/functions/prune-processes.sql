-- Replaces ended processes by tombstones, and deletes all that belongs to them. Returns the last position of their events.
create or replace function reeve.prune_processes(p_tombstones json) returns bigint language plpgsql as
$body$
declare
  v_pids text[];
  v_pruned bigint;
  v_locked bigint;
  v_refs text[];
begin
  select array_agg(pid order by pid) into v_pids from json_to_recordset(p_tombstones) as x (pid text);
  -- The commit has not compared these rows: they must still be ended, have no stop to carry on, and no live process may
  -- refer to them. They are locked first. A statement sees what was committed before it began, so the next statement sees
  -- every reference that a transaction wrote after it had compared, and thereby locked, one of these rows.
  perform from reeve.process p where p.pid = any (v_pids) and p.ended_at is not null and p.carry is null
    order by p.pid for update;
  get diagnostics v_locked = row_count;
  if v_locked < cardinality(v_pids) or exists (
    select from reeve.reference r join reeve.process q on q.pid = r.referrer
      where r.pid = any (v_pids) and q.ended_at is null
  ) or exists (
    select from reeve.object o join reeve.process q on q.pid = o.pid
      where o.target = any (v_pids) and q.ended_at is null and not exists
        (select from reeve.object later where later.pid = o.pid and later.name = o.name and later.seq > o.seq)
  ) then
    raise exception 'A process that is to be pruned has changed' using errcode = 'RV001';
  end if;
  -- In the order of locks: before environments.
  perform from reeve.approval a where a.pid = any (v_pids) order by a.id for update;
  if found then
    delete from reeve.approval a where a.pid = any (v_pids);
  end if;
  perform reeve.drop_rule_uses(array (select 'process:' || pid from unnest(v_pids) as x (pid)));
  with ended as (
    delete from reeve.environment_use u using unnest(v_pids) as x (pid)
      where u.used_by = 'process:' || x.pid
      returning u.ref
  ) select array_agg(distinct ref) into v_refs from ended;
  if v_refs is not null then
    perform reeve.drop_unused_environments(v_refs);
  end if;
  -- A query for the maximum alone would scan the whole feed backwards.
  with gone as (delete from reeve.event where pid = any (v_pids) returning position)
    select coalesce(max(position), 0) into v_pruned from gone;
  delete from reeve.notice where pid = any (v_pids);
  delete from reeve.object where pid = any (v_pids);
  delete from reeve.revocation where root = any (v_pids);
  delete from reeve.visible where pid = any (v_pids);
  delete from reeve.blob_reference r using reeve.process p where p.pid = any (v_pids) and r.process = p.id;
  delete from reeve.below_session b using reeve.process p where p.pid = any (v_pids) and b.process = p.id;
  delete from reeve.process where pid = any (v_pids);
  insert into reeve.tombstone (pid, fence, ended_at, pruned_at)
    select pid, fence, ended_at, pruned_at
    from json_to_recordset(p_tombstones) as x (pid text, fence bigint, ended_at bigint, pruned_at bigint);
  return v_pruned;
end
$body$;
