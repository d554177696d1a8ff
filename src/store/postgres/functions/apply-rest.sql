-- Writes the less frequent parts of a commit: sessions, turns, groups, grants, environments, holders, inboxes, accounts,
-- schedules, liens, revoked handles, names of objects, triggers and their deliveries, marks of notices, references, processes of sessions below others, prunes, uses of rules whose rule
-- set is removed, references
-- to blobs. A row of version 0 is new. Returns the last position that was pruned, or null.
create or replace function reeve.apply_rest(p_rest json) returns bigint language plpgsql as
$body$
declare
  v_now bigint;
  v_revoked bigint;
  v_locked bigint;
  v_refs text[];
begin
  if p_rest->'sessions' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'sessions')
        as x (id text, version bigint, next bigint, carry boolean, parent text, body text)
    ), changed as (
      update reeve.session s set version = x.next, carry = x.carry, body = x.body
        from x where s.id = x.id and x.version > 0
    )
    insert into reeve.session (id, version, carry, parent, body)
      select id, next, carry, parent, body from x where x.version = 0;
  end if;
  if p_rest->'turns' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'turns')
        as x (session text, id text, version bigint, next bigint, carry boolean, body text)
    ), changed as (
      update reeve.turn t set version = x.next, carry = x.carry, body = x.body
        from x where t.session = x.session and t.id = x.id and x.version > 0
    )
    insert into reeve.turn (session, id, version, carry, body)
      select session, id, next, carry, body from x where x.version = 0;
  end if;
  if p_rest->'groups' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'groups')
        as x (id text, version bigint, next bigint, body text)
    ), changed as (
      update reeve.process_group o set version = x.next, body = x.body
        from x where o.id = x.id and x.version > 0
    )
    insert into reeve.process_group (id, version, body)
      select id, next, body from x where x.version = 0;
  end if;
  if p_rest->'groups_gone' is not null then
    delete from reeve.process_group o using json_array_elements_text(p_rest->'groups_gone') as x (id)
      where o.id = x.id;
  end if;
  if p_rest->'sessions_gone' is not null then
    delete from reeve.turn t using json_array_elements_text(p_rest->'sessions_gone') as x (id)
      where t.session = x.id;
    delete from reeve.session s using json_array_elements_text(p_rest->'sessions_gone') as x (id)
      where s.id = x.id;
  end if;
  if p_rest->'rule_sets_gone' is not null then
    perform reeve.drop_rule_uses(array (select json_array_elements_text(p_rest->'rule_sets_gone')));
  end if;
  if p_rest->'revokes' is not null then
    delete from reeve.visible v using json_to_recordset(p_rest->'revokes') as x (session text, pid text)
      where v.session = x.session and v.pid = x.pid;
    get diagnostics v_revoked = row_count;
    -- A plan revokes only grants that it has read; if another store revoked one meanwhile, the plan is decided again.
    if v_revoked < json_array_length(p_rest->'revokes') then
      raise exception 'A grant that is to be revoked is gone' using errcode = 'RV001';
    end if;
  end if;
  if p_rest->'grants' is not null then
    insert into reeve.visible (session, pid, descriptor, at)
      select session, pid, descriptor, at
      from json_to_recordset(p_rest->'grants') as x (session text, pid text, descriptor text, at bigint)
      on conflict (session, pid) do update set descriptor = excluded.descriptor;
  end if;
  if p_rest->'environments' is not null then
    insert into reeve.environment (ref, body)
      select ref, body from json_to_recordset(p_rest->'environments') as x (ref text, body text)
      on conflict (ref) do nothing;
    -- Without the lock, another store could delete an environment that existed already before this commit.
    perform from reeve.environment e join json_to_recordset(p_rest->'environments') as x (ref text) on e.ref = x.ref
      order by e.ref for key share of e;
    get diagnostics v_locked = row_count;
    if v_locked < json_array_length(p_rest->'environments') then
      raise exception 'An environment that is to be used is gone' using errcode = 'RV001';
    end if;
  end if;
  if p_rest->'environment_uses' is not null then
    insert into reeve.environment_use (used_by, ref)
      select used_by, ref from json_to_recordset(p_rest->'environment_uses') as x (used_by text, ref text)
      on conflict (used_by, ref) do nothing;
  end if;
  if p_rest->'ended_uses' is not null or p_rest->'sessions_gone' is not null then
    with ended as (
      delete from reeve.environment_use u
        using json_to_recordset(p_rest->'ended_uses') as x (used_by text, ref text)
        where u.used_by = x.used_by and u.ref = x.ref
        returning u.ref
    ), gone as (
      delete from reeve.environment_use u using json_array_elements_text(p_rest->'sessions_gone') as x (id)
        where u.used_by = 'session:' || x.id
        returning u.ref
    ) select array_agg(ref) into v_refs from (select ref from ended union select ref from gone) as released;
    perform reeve.drop_unused_environments(v_refs);
  end if;
  if p_rest->'holders' is not null then
    v_now := reeve.now_ms();
    insert into reeve.holder (id, body, renewed_at, expires_at)
      select id, body, v_now, v_now + ttl
      from json_to_recordset(p_rest->'holders') as x (id text, body text, ttl bigint)
      on conflict (id) do update
        set body = excluded.body, renewed_at = excluded.renewed_at, expires_at = excluded.expires_at;
  end if;
  if p_rest->'holders_gone' is not null then
    delete from reeve.holder h using json_array_elements_text(p_rest->'holders_gone') as x (id) where h.id = x.id;
  end if;
  if p_rest->'notices_dropped' is not null then
    delete from reeve.notice n using json_array_elements_text(p_rest->'notices_dropped') as x (scope)
      where n.scope = x.scope;
  end if;

  if p_rest->'inboxes' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'inboxes')
        as x (scope text, version bigint, next bigint, tripped boolean, body text)
    ), changed as (
      update reeve.inbox i set version = x.next, tripped = x.tripped, body = x.body
        from x where i.scope = x.scope and x.version > 0
    )
    insert into reeve.inbox (scope, version, tripped, body)
      select scope, next, tripped, body from x where x.version = 0;
  end if;
  if p_rest->'inboxes_gone' is not null then
    delete from reeve.inbox i using json_array_elements_text(p_rest->'inboxes_gone') as x (scope)
      where i.scope = x.scope;
  end if;
  if p_rest->'accounts' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'accounts')
        as x (id text, version bigint, next bigint, root text, session text, open boolean, body text)
    ), changed as (
      update reeve.account a set version = x.next, open = x.open, body = x.body
        from x where a.id = x.id and x.version > 0
    )
    insert into reeve.account (id, version, root, session, open, body)
      select id, next, root, session, open, body from x where x.version = 0;
  end if;
  if p_rest->'schedules' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'schedules')
        as x (id text, version bigint, next bigint, open boolean, body text)
    ), changed as (
      update reeve.schedule s set version = x.next, open = x.open, body = x.body
        from x where s.id = x.id and x.version > 0
    )
    insert into reeve.schedule (id, version, open, body)
      select id, next, open, body from x where x.version = 0;
  end if;
  if p_rest->'schedules_gone' is not null then
    delete from reeve.schedule s using json_array_elements_text(p_rest->'schedules_gone') as x (id)
      where s.id = x.id;
  end if;
  if p_rest->'liens' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'liens') as x (host text, version bigint, next bigint, body text)
    ), changed as (
      update reeve.lien l set version = x.next, body = x.body from x where l.host = x.host and x.version > 0
    )
    insert into reeve.lien (host, version, body)
      select host, next, body from x where x.version = 0;
  end if;
  if p_rest->'revocations' is not null then
    insert into reeve.revocation (handle, root, version, body)
      select handle, root, next, body
      from json_to_recordset(p_rest->'revocations') as x (handle text, root text, next bigint, body text);
  end if;
  if p_rest->'objects' is not null then
    insert into reeve.object (pid, name, seq, target)
      select pid, name, seq, target
      from json_to_recordset(p_rest->'objects') as x (pid text, name text, seq bigint, target text);
  end if;
  if p_rest->'triggers' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'triggers')
        as x (id text, version bigint, next bigint, body text)
    ), changed as (
      update reeve.trigger_definition t set version = x.next, body = x.body
        from x where t.id = x.id and x.version > 0
    )
    insert into reeve.trigger_definition (id, version, body)
      select id, next, body from x where x.version = 0;
  end if;
  if p_rest->'deliveries' is not null then
    with x as (
      select * from json_to_recordset(p_rest->'deliveries')
        as x (pid text, version bigint, next bigint, trigger_id text, number bigint, waits boolean, body text)
    ), changed as (
      update reeve.delivery d set version = x.next, waits = x.waits, body = x.body
        from x where d.pid = x.pid and x.version > 0
    )
    insert into reeve.delivery (pid, version, trigger_id, number, waits, body)
      select pid, next, trigger_id, number, waits, body from x where x.version = 0;
  end if;
  if p_rest->'deliveries_gone' is not null then
    delete from reeve.delivery d
      using json_to_recordset(p_rest->'deliveries_gone') as x (trigger_id text, through bigint)
      where d.trigger_id = x.trigger_id and d.number <= x.through and not d.waits;
  end if;
  if p_rest->'triggers_gone' is not null then
    delete from reeve.delivery d using json_array_elements_text(p_rest->'triggers_gone') as x (id)
      where d.trigger_id = x.id;
    delete from reeve.trigger_definition t using json_array_elements_text(p_rest->'triggers_gone') as x (id)
      where t.id = x.id;
  end if;
  if p_rest->'accounts_gone' is not null then
    delete from reeve.account a using json_array_elements_text(p_rest->'accounts_gone') as x (id)
      where a.id = x.id;
  end if;
  if p_rest->'notices_done' is not null then
    update reeve.notice n set done = x.how
      from json_to_recordset(p_rest->'notices_done') as x (scope text, position bigint, how text)
      where n.position = x.position and n.scope = x.scope and n.done is null;
  end if;
  if p_rest->'observed' is not null then
    update reeve.notice n set observed = x.turns
      from json_to_recordset(p_rest->'observed') as x (scope text, position bigint, turns text)
      where n.position = x.position and n.scope = x.scope;
  end if;

  if p_rest->'references_gone' is not null then
    delete from reeve.reference r
      using json_to_recordset(p_rest->'references_gone') as x (pid text, referrer text)
      where r.pid = x.pid and r.referrer = x.referrer;
  end if;
  if p_rest->'references' is not null then
    insert into reeve.reference (pid, referrer)
      select pid, referrer from json_to_recordset(p_rest->'references') as x (pid text, referrer text)
      on conflict (pid, referrer) do nothing;
  end if;
  if p_rest->'below_sessions_gone' is not null then
    delete from reeve.below_session b
      using json_to_recordset(p_rest->'below_sessions_gone') as x (pid text, session text, is_ended boolean)
        join reeve.process p on p.pid = x.pid
      where b.session = x.session and b.is_ended = x.is_ended and b.process = p.id;
  end if;
  if p_rest->'below_sessions' is not null then
    insert into reeve.below_session (session, is_ended, process)
      select x.session, x.is_ended, p.id
      from json_to_recordset(p_rest->'below_sessions') as x (pid text, session text, is_ended boolean)
        join reeve.process p on p.pid = x.pid
      on conflict (session, is_ended, process) do nothing;
  end if;
  if p_rest->'blob_references' is not null or p_rest->'blob_references_gone' is not null then
    perform reeve.change_blob_references(p_rest->'blob_references_gone', p_rest->'blob_references');
  end if;
  if p_rest->'tombstones_gone' is not null then
    delete from reeve.tombstone t using json_array_elements_text(p_rest->'tombstones_gone') as x (pid)
      where t.pid = x.pid;
  end if;

  if p_rest->'tombstones' is null then
    return null;
  end if;
  return reeve.prune_processes(p_rest->'tombstones');
end
$body$;
