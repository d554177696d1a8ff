/**
 * What processes and sessions may use, and have used, as SQLite has it. An account is compared like an inbox: `kind` account
 * in what is guarded, locked after inboxes and before holders. The three functions are those of the second migration with
 * accounts added.
 */
export const sql = (at: string) => `
create table ${at}account (
  id text collate "C" primary key,
  version bigint not null,
  root text collate "C",
  session text collate "C",
  open boolean not null,
  body text not null
);
create index account_root on ${at}account (root, id) where open;
create index account_session on ${at}account (session, id) where open;

create or replace function ${at}stale_keys(p_pids text[], p_versions bigint[], p_scopes text) returns text[] language sql stable as
$body$
  select array_agg(key) from (
    select 'process:' || g.pid as key
      from unnest(p_pids, p_versions) as g (pid, version) left join ${at}process p on p.pid = g.pid
      where coalesce(p.version, 0) <> g.version
    union all
    select g.key
      from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, session text, version bigint)
      where g.version <> coalesce(case g.kind
        when 'session' then (select s.version from ${at}session s where s.id = g.id)
        when 'turn' then (select t.version from ${at}turn t where t.session = g.session and t.id = g.id)
        when 'inbox' then (select i.version from ${at}inbox i where i.scope = g.id)
        when 'account' then (select a.version from ${at}account a where a.id = g.id)
        when 'holder' then (select h.renewed_at from ${at}holder h where h.id = g.id)
        else (select o.version from ${at}process_group o where o.id = g.id)
      end, 0)
  ) as found
$body$;

create or replace function ${at}lock_and_find_stale(p_pids text[], p_versions bigint[], p_scopes text) returns text[]
language plpgsql as
$body$
declare
  v_stale text[];
  v_found text[];
begin
  select array_agg('process:' || g.pid) into v_stale
    from unnest(p_pids, p_versions) as g (pid, version)
    left join lateral (select p.version from ${at}process p where p.pid = g.pid for no key update) p on true
    where coalesce(p.version, 0) <> g.version;
  if p_scopes is null then
    return v_stale;
  end if;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select s.version from ${at}session s where s.id = g.id for no key update) s on true
    where g.kind = 'session' and coalesce(s.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, session text, id text, version bigint)
    left join lateral
      (select t.version from ${at}turn t where t.session = g.session and t.id = g.id for no key update) t on true
    where g.kind = 'turn' and coalesce(t.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select o.version from ${at}process_group o where o.id = g.id for no key update) o on true
    where g.kind = 'group' and coalesce(o.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select i.version from ${at}inbox i where i.scope = g.id for no key update) i on true
    where g.kind = 'inbox' and coalesce(i.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select a.version from ${at}account a where a.id = g.id for no key update) a on true
    where g.kind = 'account' and coalesce(a.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  -- A holder's row has no version: each renewal has its time.
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select h.renewed_at from ${at}holder h where h.id = g.id for no key update) h on true
    where g.kind = 'holder' and coalesce(h.renewed_at, 0) <> g.version;
  return v_stale || v_found;
end
$body$;

create or replace function ${at}apply_rest(p_rest json) returns bigint language plpgsql as
$body$
declare
  v_now bigint;
  v_pids text[];
  v_pruned bigint;
  v_revoked bigint;
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
    -- Only what was seen is revoked; if somebody else did so meanwhile, the plan is to be decided again.
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

  if p_rest->'tombstones' is null then
    return null;
  end if;
  select array_agg(pid) into v_pids from json_to_recordset(p_rest->'tombstones') as x (pid text);
  select coalesce(max(position), 0) into v_pruned from ${at}event where pid = any (v_pids);
  delete from ${at}event where pid = any (v_pids);
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
