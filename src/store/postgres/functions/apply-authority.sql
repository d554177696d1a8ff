-- Writes rule sets, uses of rules, approvals and windows of the audit, and removes the start of the audit. The caller has
-- locked the counters: changes of rule sets come one after another, and approvals get their places in the order of commits.
-- A row of version 0 is new. The uses of the rules of subjects that are gone have been dropped before (drop_rule_uses).
create or replace function reeve.apply_authority(p_parts json) returns void language plpgsql as
$body$
declare
  v_changed bigint := 0;
  v_gone bigint := 0;
  v_start bigint;
begin
  if p_parts->'rule_sets' is not null then
    insert into reeve.rule_set (subject, body)
      select subject, body from json_to_recordset(p_parts->'rule_sets') as x (subject text, body text)
      on conflict (subject) do update set body = excluded.body;
    get diagnostics v_changed = row_count;
  end if;
  -- Also the subjects of all pruned processes. Before the first rule set is stored, none of them can have one.
  if p_parts->'subjects_gone' is not null
      and (v_changed > 0 or exists (select from reeve.meta m where m.authority_epoch > 0)) then
    delete from reeve.rule_set r using json_array_elements_text(p_parts->'subjects_gone') as x (subject)
      where r.subject = x.subject;
    get diagnostics v_gone = row_count;
  end if;
  if v_changed + v_gone > 0 then
    update reeve.meta set authority_epoch = authority_epoch + 1;
  end if;
  if p_parts->'rule_uses' is not null then
    with x as (
      select * from json_to_recordset(p_parts->'rule_uses')
        as x (id text, subject text, version bigint, next bigint, used bigint)
    ), changed as (
      update reeve.rule_use u set version = x.next, subject = x.subject, used = x.used
        from x where u.id = x.id and x.version > 0
    )
    insert into reeve.rule_use (id, subject, version, used)
      select id, subject, next, used from x where x.version = 0;
  end if;
  if p_parts->'rule_uses_gone' is not null then
    delete from reeve.rule_use u using json_array_elements_text(p_parts->'rule_uses_gone') as x (id)
      where u.id = x.id;
  end if;
  if p_parts->'approvals' is not null then
    with x as (
      select * from rows from (json_to_recordset(p_parts->'approvals') as (id text, pid text, version bigint, next bigint,
          state text, person text, priority integer, expires_at bigint, push_at bigint, review_until bigint, body text))
        with ordinality as x (id, pid, version, next, state, person, priority, expires_at, push_at, review_until, body, number)
    ), changed as (
      update reeve.approval a set version = x.next, pid = x.pid, state = x.state, person = x.person,
          priority = x.priority, expires_at = x.expires_at, push_at = x.push_at, review_until = x.review_until, body = x.body
        from x where a.id = x.id and x.version > 0
    )
    insert into reeve.approval (id, pid, version, state, person, priority, expires_at, push_at, review_until, body)
      select id, pid, next, state, person, priority, expires_at, push_at, review_until, body
      from x where x.version = 0 order by number;
  end if;
  if p_parts->'windows' is not null then
    with x as (
      select * from json_to_recordset(p_parts->'windows')
        as x (key text, version bigint, next bigint, opened_at bigint, body text)
    ), changed as (
      update reeve.audit_window w set version = x.next, opened_at = x.opened_at, body = x.body
        from x where w.key = x.key and x.version > 0
    )
    insert into reeve.audit_window (key, version, opened_at, body)
      select key, next, opened_at, body from x where x.version = 0;
  end if;
  if p_parts->'windows_gone' is not null then
    delete from reeve.audit_window w using json_array_elements_text(p_parts->'windows_gone') as x (key)
      where w.key = x.key;
  end if;
  if p_parts->'audit_starts' is not null then
    v_start := (p_parts->'audit_starts'->0->>'position')::bigint;
    delete from reeve.audit a where a.position <= v_start;
    update reeve.meta m set audit_start = p_parts->'audit_starts'->0->>'body'
      where v_start > coalesce((m.audit_start::json->>'position')::bigint, 0);
  end if;
end
$body$;
