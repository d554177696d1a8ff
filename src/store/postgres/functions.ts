import { applyRest } from './functions/apply-rest.ts'

/**
 * What a commit runs in the database. Tables are migrated; functions are put in place anew whenever the schema moves on, so
 * there is one text of each. A change of them needs a migration of its own number, be it empty: that is when they are
 * replaced.
 *
 * `at` is the quoted schema with a dot.
 */
export const functions = (at: string) => `
create or replace function ${at}now_ms() returns bigint language sql volatile as
$body$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $body$;

-- Which of these rows are no longer as they were seen; version 0 is a row that was not there. One statement, so one
-- moment. Scopes are [{kind, key, id, session, version}].
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
        when 'environment' then (select 1 from ${at}environment e where e.ref = g.id)
        when 'announced' then (select 1 from ${at}holder h where h.id = g.id)
        when 'holder' then (select h.renewed_at from ${at}holder h where h.id = g.id)
        else (select o.version from ${at}process_group o where o.id = g.id)
      end, 0)
  ) as found
$body$;

-- The same, and keeps them as they are until the end of the transaction. Everybody locks in one order: processes,
-- sessions, turns, groups, inboxes, accounts, holders, environments, each by key as the caller sorted them.
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
  v_stale := v_stale || v_found;
  -- That it has one at all does not change when it is renewed.
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select 1 as version from ${at}holder h where h.id = g.id for key share) h on true
    where g.kind = 'announced' and coalesce(h.version, 0) <> g.version;
  v_stale := v_stale || v_found;
  -- Nor has an environment: it is there or not, and stays while somebody begins to use it.
  select array_agg(g.key) into v_found
    from json_to_recordset(p_scopes::json) as g (kind text, key text, id text, version bigint)
    left join lateral (select 1 as version from ${at}environment e where e.ref = g.id for key share) e on true
    where g.kind = 'environment' and coalesce(e.version, 0) <> g.version;
  return v_stale || v_found;
end
$body$;

${applyRest(at)}-- Everything that one group commit writes, in one round trip, or nothing: when a row is not as it was seen, the
-- answer names it. A part that is null is empty. JSON comes as texts joined by the record separator, which no JSON
-- text contains: much faster than an array, in which every quote would be escaped.
create or replace function ${at}commit_changes(
  p_store text, p_fence bigint, p_commit bigint, p_channel text,
  p_guard_pids text[], p_guard_versions bigint[], p_guard_scopes text,
  p_new_pids text[], p_new_revisions bigint[], p_new_fences bigint[], p_new_holders text[], p_new_carries text[],
  p_new_dues bigint[], p_new_kinds text[], p_new_targets text[], p_new_names text[], p_new_parents text[],
  p_new_roots text[], p_new_sessions text[], p_new_wake_targets text[], p_new_created_ats bigint[],
  p_new_ended_ats bigint[], p_new_end_statuses text[], p_new_label_signatures bigint[],
  p_new_definition_signatures bigint[], p_new_placements text[], p_new_moving text,
  p_pids text[], p_revisions bigint[], p_fences bigint[], p_holders text[], p_carries text[], p_dues bigint[],
  p_sessions text[], p_wake_targets text[], p_ended_ats bigint[], p_end_statuses text[], p_moving text,
  p_lease_pids text[], p_lease_fences bigint[], p_lease_holders text[], p_lease_carries text[], p_lease_dues bigint[],
  p_rest text, p_live bigint,
  p_event_pids text[], p_event_seqs bigint[], p_event_types text[], p_event_ats bigint[], p_event_actors text[],
  p_event_keys text[], p_event_payloads text,
  p_notice_scopes text[], p_notice_pids text[], p_notice_seqs bigint[], p_notice_kinds text[], p_notice_ats bigint[],
  p_notice_payloads text, p_notice_reply_tos text,
  out stale text, out "position" bigint
) language plpgsql as
$body$
#variable_conflict use_column
declare
  v_stale text[];
  v_pruned bigint;
  v_position bigint;
  v_events bigint := coalesce(cardinality(p_event_pids), 0);
begin
  v_stale := ${at}lock_and_find_stale(p_guard_pids, p_guard_versions, p_guard_scopes);
  if v_stale is not null then
    stale := to_json(v_stale)::text;
    return;
  end if;

  if p_new_pids is not null then
    insert into ${at}process (pid, version, revision, fence, holder, carry, due, kind, target, name, parent, root,
        session, wake_target, created_at, ended_at, end_status, label_signature, definition_signature, placement, moving)
      select pid, 1, revision, fence, holder, carry, due, kind, target, name, parent, root,
        session, wake_target, created_at, ended_at, end_status, label_signature, definition_signature, placement, moving
      from unnest(p_new_pids, p_new_revisions, p_new_fences, p_new_holders, p_new_carries, p_new_dues, p_new_kinds,
        p_new_targets, p_new_names, p_new_parents, p_new_roots, p_new_sessions, p_new_wake_targets,
        p_new_created_ats, p_new_ended_ats, p_new_end_statuses, p_new_label_signatures, p_new_definition_signatures,
        p_new_placements, string_to_array(p_new_moving, E'\\x1e'))
        as n (pid, revision, fence, holder, carry, due, kind, target, name, parent, root,
          session, wake_target, created_at, ended_at, end_status, label_signature, definition_signature, placement, moving);
    -- Only now: whoever pruned this pid meanwhile has committed, or the insert had waited for it.
    if exists (select from ${at}tombstone where pid = any (p_new_pids)) then
      raise exception 'A new process has the pid of a pruned one' using errcode = 'RV001';
    end if;
  end if;
  if p_pids is not null then
    update ${at}process p set version = p.version + 1, revision = n.revision, fence = n.fence, holder = n.holder,
        carry = n.carry, due = n.due, session = n.session, wake_target = n.wake_target, ended_at = n.ended_at,
        end_status = n.end_status, moving = n.moving
      from unnest(p_pids, p_revisions, p_fences, p_holders, p_carries, p_dues, p_sessions, p_wake_targets, p_ended_ats,
        p_end_statuses, string_to_array(p_moving, E'\\x1e'))
        as n (pid, revision, fence, holder, carry, due, session, wake_target, ended_at, end_status, moving)
      where p.pid = n.pid;
  end if;
  if p_lease_pids is not null then
    update ${at}process p set version = p.version + 1, fence = n.fence, holder = n.holder, carry = n.carry, due = n.due
      from unnest(p_lease_pids, p_lease_fences, p_lease_holders, p_lease_carries, p_lease_dues)
        as n (pid, fence, holder, carry, due)
      where p.pid = n.pid;
  end if;
  if p_rest is not null then
    v_pruned := ${at}apply_rest(p_rest::json);
  end if;

  -- The counter comes last, and its lock is kept until the commit: so positions are committed in their order, and
  -- a reader of the feed never sees one before a lower one. The same holds for the places of notices.
  if v_events > 0 or p_notice_pids is not null or v_pruned is not null then
    update ${at}meta m set position = m.position + v_events, live = m.live + p_live,
        pruned_through = greatest(m.pruned_through, v_pruned)
      returning m.position into v_position;
    insert into ${at}event (position, pid, seq, type, at, actor, replay_key, payload)
      select v_position - v_events + ordinality, pid, seq, type, at, actor, replay_key, payload
      from unnest(p_event_pids, p_event_seqs, p_event_types, p_event_ats, p_event_actors, p_event_keys,
        string_to_array(p_event_payloads, E'\\x1e'))
        with ordinality as n (pid, seq, type, at, actor, replay_key, payload, ordinality);
    if p_notice_pids is not null then
      insert into ${at}notice (scope, pid, seq, kind, at, payload, reply_to)
        select scope, pid, seq, kind, at, payload, reply_to
        from unnest(p_notice_scopes, p_notice_pids, p_notice_seqs, p_notice_kinds, p_notice_ats,
          string_to_array(p_notice_payloads, E'\\x1e'), string_to_array(p_notice_reply_tos, E'\\x1e'))
          as n (scope, pid, seq, kind, at, payload, reply_to);
    end if;
  end if;

${closing(at)}  position := v_position;
end
$body$;

-- The commonest commit by far, with little around it: one process is new (version 0) or changed, with events of its own,
-- and nothing else was seen. Comparing it and changing it are one. Answers with nothing when it is not as it was seen.
create or replace function ${at}commit_one(
  p_store text, p_fence bigint, p_commit bigint, p_channel text,
  p_pid text, p_version bigint, p_revision bigint, p_process_fence bigint, p_holder text, p_carry text, p_due bigint,
  p_session text, p_wake_target text, p_ended_at bigint, p_end_status text, p_moving text,
  p_kind text, p_target text, p_name text, p_parent text, p_root text, p_created_at bigint,
  p_label_signature bigint, p_definition_signature bigint, p_placement text,
  p_live bigint, p_event_types text[], p_event_ats bigint[], p_event_actors text[], p_event_keys text[], p_event_payloads text,
  p_announced text
) returns bigint language plpgsql as
$body$
declare
  v_position bigint;
  v_events integer := cardinality(p_event_types);
  v_payloads text[];
begin
  if p_version > 0 then
    update ${at}process p set version = p.version + 1, revision = p_revision, fence = p_process_fence, holder = p_holder,
        carry = p_carry, due = p_due, session = p_session, wake_target = p_wake_target, ended_at = p_ended_at,
        end_status = p_end_status, moving = p_moving
      where p.pid = p_pid and p.version = p_version;
    if not found then
      return null;
    end if;
  else
    if p_announced is not null then
      perform from ${at}holder h where h.id = p_announced for key share;
      if not found then
        return null;
      end if;
    end if;
    insert into ${at}process (pid, version, revision, fence, holder, carry, due, kind, target, name, parent, root,
        session, wake_target, created_at, ended_at, end_status, label_signature, definition_signature, placement, moving)
      values (p_pid, 1, p_revision, p_process_fence, p_holder, p_carry, p_due, p_kind, p_target, p_name, p_parent, p_root,
        p_session, p_wake_target, p_created_at, p_ended_at, p_end_status, p_label_signature, p_definition_signature,
        p_placement, p_moving);
    if exists (select from ${at}tombstone t where t.pid = p_pid) then
      raise exception 'A new process has the pid of a pruned one' using errcode = 'RV001';
    end if;
  end if;
  update ${at}meta m set position = m.position + v_events, live = m.live + p_live returning m.position into v_position;
  if v_events = 1 then
    insert into ${at}event (position, pid, seq, type, at, actor, replay_key, payload)
      values (v_position, p_pid, p_revision, p_event_types[1], p_event_ats[1], p_event_actors[1], p_event_keys[1],
        p_event_payloads);
  else
    v_payloads := string_to_array(p_event_payloads, E'\\x1e');
    for i in 1 .. v_events loop
      insert into ${at}event (position, pid, seq, type, at, actor, replay_key, payload)
        values (v_position - v_events + i, p_pid, p_revision - v_events + i, p_event_types[i], p_event_ats[i],
          p_event_actors[i], p_event_keys[i], v_payloads[i]);
    end loop;
  end if;
${closing(at)}  return v_position;
end
$body$;

-- Says which commit of a store was its last, and makes sure that none of those it sent before can still happen: they
-- carry the old fence. Waits for one that is happening now.
create or replace function ${at}settle(p_store text, out fence bigint, out commit bigint, out "position" bigint) language sql
set lock_timeout = 0 as
$body$
  insert into ${at}writer as w (store, fence, commit, at) values (p_store, 1, 0, clock_timestamp())
    on conflict (store) do update set fence = w.fence + 1, at = clock_timestamp()
    returning w.fence, w.commit, w.position
$body$;

-- A store that writes nothing says that it is there all the same; see commit_changes. Answers with the position, after the
-- commits that are under way. The counter is locked first, as commits do.
create or replace function ${at}stay(p_store text) returns bigint language plpgsql as
$body$
declare
  v_position bigint;
begin
  select m.position into v_position from ${at}meta m for share;
  update ${at}writer set at = clock_timestamp() where store = p_store;
  return v_position;
end
$body$;
`

/** How every commit ends: its number is written, and others are told. */
const closing = (
  at: string,
) => `  update ${at}writer w set commit = p_commit, position = v_position, at = clock_timestamp()
    where w.store = p_store and w.fence = p_fence;
  if not found then
    raise exception 'This store has given up this commit' using errcode = 'RV002';
  end if;
  -- To tell costs everybody who commits a lock, so it is done where others are. Whoever comes makes its row, then listens,
  -- then waits for the counter: it finds what was committed before by reading, and all later commits find its row here.
  if p_channel is not null and (v_position is null or exists (
      select from ${at}writer w where w.store <> p_store and w.at > clock_timestamp() - interval '3 minutes')) then
    perform pg_notify(p_channel,
      p_store || ':' || coalesce(v_position, (select m.position from ${at}meta m)));
  end if;
`
