-- Like stale_keys, and locks the rows until the end of the transaction. All transactions lock in one order: processes,
-- sessions, turns, groups, inboxes, accounts, approvals, uses of rules, windows of the audit, schedules, liens, revocations, triggers, deliveries, holders,
-- environments, blobs, each by key as the caller sorted them.
create or replace function reeve.lock_and_find_stale(p_pids text[], p_versions bigint[], p_scopes text) returns text[]
language plpgsql as
$body$
declare
  v_stale text[];
  v_found text[];
begin
  select array_agg('process:' || g.pid) into v_stale
    from unnest(p_pids, p_versions) as g (pid, version)
    left join lateral (select p.version from reeve.process p where p.pid = g.pid for no key update) p on true
    where coalesce(p.version, 0) <> g.version;
  if p_scopes is null then
    return v_stale;
  end if;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select s.version from reeve.session s where s.id = g.id for no key update) s on true
    where g.kind = 'session' and coalesce(s.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, session text, id text, version bigint)
    left join lateral
      (select t.version from reeve.turn t where t.session = g.session and t.id = g.id for no key update) t on true
    where g.kind = 'turn' and coalesce(t.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select o.version from reeve.process_group o where o.id = g.id for no key update) o on true
    where g.kind = 'group' and coalesce(o.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select i.version from reeve.inbox i where i.scope = g.id for no key update) i on true
    where g.kind = 'inbox' and coalesce(i.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select a.version from reeve.account a where a.id = g.id for no key update) a on true
    where g.kind = 'account' and coalesce(a.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select b.version from reeve.approval b where b.id = g.id for no key update) b on true
    where g.kind = 'approval' and coalesce(b.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select u.version from reeve.rule_use u where u.id = g.id for no key update) u on true
    where g.kind = 'ruleUse' and coalesce(u.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select w.version from reeve.audit_window w where w.key = g.id for no key update) w on true
    where g.kind = 'auditWindow' and coalesce(w.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select d.version from reeve.schedule d where d.id = g.id for no key update) d on true
    where g.kind = 'schedule' and coalesce(d.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select l.version from reeve.lien l where l.host = g.id for no key update) l on true
    where g.kind = 'liens' and coalesce(l.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select r.version from reeve.revocation r where r.handle = g.id for no key update) r on true
    where g.kind = 'revocation' and coalesce(r.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select t.version from reeve.trigger_definition t where t.id = g.id for no key update) t on true
    where g.kind = 'trigger' and coalesce(t.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select y.version from reeve.delivery y where y.pid = g.id for no key update) y on true
    where g.kind = 'delivery' and coalesce(y.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  -- A holder's row has no version: the time of its last renewal takes that part.
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select h.renewed_at from reeve.holder h where h.id = g.id for no key update) h on true
    where g.kind = 'holder' and coalesce(h.renewed_at, 0) <> g.version;
  v_stale := v_stale || v_found;
  -- A guard on the existence of the row alone: a renewal does not change that.
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select 1 as version from reeve.holder h where h.id = g.id for key share) h on true
    where g.kind = 'announced' and coalesce(h.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  -- An environment has no version either: it exists or not. The lock keeps it while a new use of it is written.
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select 1 as version from reeve.environment e where e.ref = g.id for key share) e on true
    where g.kind = 'environment' and coalesce(e.version, 0) <> g.version;
  return v_stale || v_found;
end
$body$;
