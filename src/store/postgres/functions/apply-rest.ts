/** The SQL function that writes the parts of a commit that are rare. `at` is the quoted schema with a dot. */
export const applyRest = (
  at: string,
) => `-- The parts of a commit that are rare: sessions, turns, groups, grants, environments, holders, dropped notices,
-- prunes. Answers with the last position that was pruned, or null.
create or replace function ${at}apply_rest(p_rest json) returns bigint language plpgsql as
$body$
declare
  v_now bigint;
  v_pids text[];
  v_pruned bigint;
  v_revoked bigint;
  v_locked bigint;
  v_refs text[];
begin
  if p_rest->'sessions' is not null then
    insert into ${at}session (id, version, carry, body)
      select id, next, carry, body
      from json_to_recordset(p_rest->'sessions')
        as x (id text, version bigint, next bigint, carry boolean, body text)
      where version = 0;
    update ${at}session s set version = x.next, carry = x.carry, body = x.body
      from json_to_recordset(p_rest->'sessions')
        as x (id text, version bigint, next bigint, carry boolean, body text)
      where s.id = x.id and x.version > 0;
  end if;
  if p_rest->'turns' is not null then
    insert into ${at}turn (session, id, version, carry, body)
      select session, id, next, carry, body
      from json_to_recordset(p_rest->'turns')
        as x (session text, id text, version bigint, next bigint, carry boolean, body text)
      where version = 0;
    update ${at}turn t set version = x.next, carry = x.carry, body = x.body
      from json_to_recordset(p_rest->'turns')
        as x (session text, id text, version bigint, next bigint, carry boolean, body text)
      where t.session = x.session and t.id = x.id and x.version > 0;
  end if;
  if p_rest->'groups' is not null then
    insert into ${at}process_group (id, version, body)
      select id, next, body
      from json_to_recordset(p_rest->'groups') as x (id text, version bigint, next bigint, body text)
      where version = 0;
    update ${at}process_group o set version = x.next, body = x.body
      from json_to_recordset(p_rest->'groups') as x (id text, version bigint, next bigint, body text)
      where o.id = x.id and x.version > 0;
  end if;
  if p_rest->'groups_gone' is not null then
    delete from ${at}process_group o using json_array_elements_text(p_rest->'groups_gone') as x (id)
      where o.id = x.id;
  end if;
  if p_rest->'sessions_gone' is not null then
    delete from ${at}turn t using json_array_elements_text(p_rest->'sessions_gone') as x (id)
      where t.session = x.id;
    delete from ${at}session s using json_array_elements_text(p_rest->'sessions_gone') as x (id)
      where s.id = x.id;
  end if;
  if p_rest->'revokes' is not null then
    delete from ${at}visible v using json_to_recordset(p_rest->'revokes') as x (session text, pid text)
      where v.session = x.session and v.pid = x.pid;
    get diagnostics v_revoked = row_count;
    -- Only what was seen is revoked; if another store did so meanwhile, the plan is to be decided again.
    if v_revoked < json_array_length(p_rest->'revokes') then
      raise exception 'A grant that is to be revoked is gone' using errcode = 'RV001';
    end if;
  end if;
  if p_rest->'grants' is not null then
    insert into ${at}visible (session, pid, descriptor, at)
      select session, pid, descriptor, at
      from json_to_recordset(p_rest->'grants') as x (session text, pid text, descriptor text, at bigint)
      on conflict (session, pid) do update set descriptor = excluded.descriptor;
  end if;
  if p_rest->'environments' is not null then
    insert into ${at}environment (ref, body)
      select ref, body from json_to_recordset(p_rest->'environments') as x (ref text, body text)
      on conflict (ref) do nothing;
    -- One that was there already may go before this commit, unless it is locked.
    perform from ${at}environment e join json_to_recordset(p_rest->'environments') as x (ref text) on e.ref = x.ref
      order by e.ref for key share of e;
    get diagnostics v_locked = row_count;
    if v_locked < json_array_length(p_rest->'environments') then
      raise exception 'An environment that is to be used is gone' using errcode = 'RV001';
    end if;
  end if;
  if p_rest->'environment_uses' is not null then
    insert into ${at}environment_use (used_by, ref)
      select used_by, ref from json_to_recordset(p_rest->'environment_uses') as x (used_by text, ref text)
      on conflict (used_by, ref) do nothing;
  end if;
  if p_rest->'ended_uses' is not null or p_rest->'sessions_gone' is not null then
    with ended as (
      delete from ${at}environment_use u
        using json_to_recordset(p_rest->'ended_uses') as x (used_by text, ref text)
        where u.used_by = x.used_by and u.ref = x.ref
        returning u.ref
    ), gone as (
      delete from ${at}environment_use u using json_array_elements_text(p_rest->'sessions_gone') as x (id)
        where u.used_by = 'session:' || x.id
        returning u.ref
    ) select array_agg(ref) into v_refs from (select ref from ended union select ref from gone) as released;
    perform from ${at}environment e where e.ref = any (v_refs) order by e.ref for update;
    -- A statement of its own, so that it sees what was committed while this one waited for the locks.
    delete from ${at}environment e
      where e.ref = any (v_refs) and not exists (select from ${at}environment_use u where u.ref = e.ref);
  end if;
  if p_rest->'holders' is not null then
    v_now := ${at}now_ms();
    insert into ${at}holder (id, body, renewed_at, expires_at)
      select id, body, v_now, v_now + ttl
      from json_to_recordset(p_rest->'holders') as x (id text, body text, ttl bigint)
      on conflict (id) do update
        set body = excluded.body, renewed_at = excluded.renewed_at, expires_at = excluded.expires_at;
  end if;
  if p_rest->'holders_gone' is not null then
    delete from ${at}holder h using json_array_elements_text(p_rest->'holders_gone') as x (id) where h.id = x.id;
  end if;
  if p_rest->'notices_dropped' is not null then
    delete from ${at}notice n using json_array_elements_text(p_rest->'notices_dropped') as x (scope)
      where n.scope = x.scope;
  end if;

  if p_rest->'inboxes' is not null then
    insert into ${at}inbox (scope, version, tripped, body)
      select scope, next, tripped, body
      from json_to_recordset(p_rest->'inboxes')
        as x (scope text, version bigint, next bigint, tripped boolean, body text)
      where version = 0;
    update ${at}inbox i set version = x.next, tripped = x.tripped, body = x.body
      from json_to_recordset(p_rest->'inboxes')
        as x (scope text, version bigint, next bigint, tripped boolean, body text)
      where i.scope = x.scope and x.version > 0;
  end if;
  if p_rest->'inboxes_gone' is not null then
    delete from ${at}inbox i using json_array_elements_text(p_rest->'inboxes_gone') as x (scope)
      where i.scope = x.scope;
  end if;
  if p_rest->'accounts' is not null then
    insert into ${at}account (id, version, root, session, open, body)
      select id, next, root, session, open, body
      from json_to_recordset(p_rest->'accounts')
        as x (id text, version bigint, next bigint, root text, session text, open boolean, body text)
      where version = 0;
    update ${at}account a set version = x.next, open = x.open, body = x.body
      from json_to_recordset(p_rest->'accounts')
        as x (id text, version bigint, next bigint, open boolean, body text)
      where a.id = x.id and x.version > 0;
  end if;
  if p_rest->'accounts_gone' is not null then
    delete from ${at}account a using json_array_elements_text(p_rest->'accounts_gone') as x (id)
      where a.id = x.id;
  end if;
  if p_rest->'notices_done' is not null then
    update ${at}notice n set done = x.how
      from json_to_recordset(p_rest->'notices_done') as x (scope text, place bigint, how text)
      where n.place = x.place and n.scope = x.scope and n.done is null;
  end if;
  if p_rest->'observed' is not null then
    update ${at}notice n set observed = x.turns
      from json_to_recordset(p_rest->'observed') as x (scope text, place bigint, turns text)
      where n.place = x.place and n.scope = x.scope;
  end if;

  if p_rest->'references_gone' is not null then
    delete from ${at}reference r
      using json_to_recordset(p_rest->'references_gone') as x (pid text, referrer text)
      where r.pid = x.pid and r.referrer = x.referrer;
  end if;
  if p_rest->'references' is not null then
    insert into ${at}reference (pid, referrer)
      select pid, referrer from json_to_recordset(p_rest->'references') as x (pid text, referrer text)
      on conflict (pid, referrer) do nothing;
  end if;
  if p_rest->'tombstones_gone' is not null then
    delete from ${at}tombstone t using json_array_elements_text(p_rest->'tombstones_gone') as x (pid)
      where t.pid = x.pid;
  end if;

  if p_rest->'tombstones' is null then
    return null;
  end if;
  select array_agg(pid order by pid) into v_pids from json_to_recordset(p_rest->'tombstones') as x (pid text);
  -- The rows were not compared before: they must still be ended, with no stop to carry on, and named by no live process. They
  -- are locked first: a statement sees what was committed before it began, so that the next one sees every reference of a
  -- transaction that had compared, and so locked, one of these rows.
  perform from ${at}process p where p.pid = any (v_pids) and p.ended_at is not null and p.carry is null
    order by p.pid for update;
  get diagnostics v_locked = row_count;
  if v_locked < cardinality(v_pids) or exists (
    select from ${at}reference r join ${at}process q on q.pid = r.referrer
      where r.pid = any (v_pids) and q.ended_at is null
  ) then
    raise exception 'A process that is to be pruned has changed' using errcode = 'RV001';
  end if;
  with ended as (
    delete from ${at}environment_use u using unnest(v_pids) as x (pid)
      where u.used_by = 'process:' || x.pid
      returning u.ref
  ) select array_agg(distinct ref) into v_refs from ended;
  if v_refs is not null then
    perform from ${at}environment e where e.ref = any (v_refs) order by e.ref for update;
    delete from ${at}environment e
      where e.ref = any (v_refs) and not exists (select from ${at}environment_use u where u.ref = e.ref);
  end if;
  -- A query for the maximum alone would walk the whole feed backwards.
  with gone as (delete from ${at}event where pid = any (v_pids) returning position)
    select coalesce(max(position), 0) into v_pruned from gone;
  delete from ${at}notice where pid = any (v_pids);
  delete from ${at}visible where pid = any (v_pids);
  delete from ${at}process where pid = any (v_pids);
  insert into ${at}tombstone (pid, fence, ended_at, pruned_at)
    select pid, fence, ended_at, pruned_at
    from json_to_recordset(p_rest->'tombstones') as x (pid text, fence bigint, ended_at bigint, pruned_at bigint);
  return v_pruned;
end
$body$;

`
