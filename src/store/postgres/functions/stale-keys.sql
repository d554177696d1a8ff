-- Returns the keys of the rows that have changed since they were read, or null. Version 0 stands for a row that did not
-- exist. One statement, so all rows are compared at one moment. Scopes are [{kind, key, id, session, version}]. The key
-- `authority` stands for the epoch of rule sets; `p_epoch` is null if none was read.
create or replace function reeve.stale_keys(
  p_pids text[], p_versions bigint[], p_scopes text, p_epoch bigint
) returns text[] language sql stable as
$body$
  select array_agg(key) from (
    select 'process:' || g.pid as key
      from unnest(p_pids, p_versions) as g (pid, version) left join reeve.process p on p.pid = g.pid
      where coalesce(p.version, 0) <> g.version
    union all
    select g.key
      from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, session text, version bigint)
      where g.version <> coalesce(case g.kind
        when 'session' then (select s.version from reeve.session s where s.id = g.id)
        when 'turn' then (select t.version from reeve.turn t where t.session = g.session and t.id = g.id)
        when 'inbox' then (select i.version from reeve.inbox i where i.scope = g.id)
        when 'account' then (select a.version from reeve.account a where a.id = g.id)
        when 'approval' then (select a.version from reeve.approval a where a.id = g.id)
        when 'ruleUse' then (select u.version from reeve.rule_use u where u.id = g.id)
        when 'auditWindow' then (select w.version from reeve.audit_window w where w.key = g.id)
        when 'schedule' then (select s.version from reeve.schedule s where s.id = g.id)
        when 'liens' then (select l.version from reeve.lien l where l.host = g.id)
        when 'revocation' then (select r.version from reeve.revocation r where r.handle = g.id)
        when 'trigger' then (select t.version from reeve.trigger_definition t where t.id = g.id)
        when 'delivery' then (select d.version from reeve.delivery d where d.pid = g.id)
        when 'environment' then (select 1 from reeve.environment e where e.ref = g.id)
        when 'announced' then (select 1 from reeve.holder h where h.id = g.id)
        when 'holder' then (select h.renewed_at from reeve.holder h where h.id = g.id)
        else (select o.version from reeve.process_group o where o.id = g.id)
      end, 0)
    union all
    select 'authority' from reeve.meta m where m.authority_epoch <> p_epoch
  ) as found
$body$;
