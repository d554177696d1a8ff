-- Writes one whole group commit in one round trip, or nothing: if a row has changed since it was read, the answer names
-- it. A part that is null is empty. JSON arrives as texts joined by the record separator, which no JSON text contains:
-- much faster than an array, in which every quote is escaped.
create or replace function reeve.commit_changes(
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
  p_epoch bigint, p_authority text, p_audit_ats bigint[], p_audit_counts bigint[], p_audit_texts text,
  out stale text, out "position" bigint
) language plpgsql as
$body$
#variable_conflict use_column
declare
  v_stale text[];
  v_pruned bigint;
  v_position bigint;
  v_epoch bigint;
  v_events bigint := coalesce(cardinality(p_event_pids), 0);
begin
  v_stale := reeve.lock_and_find_stale(p_guard_pids, p_guard_versions, p_guard_scopes);
  if v_stale is not null then
    stale := to_json(v_stale)::text;
    return;
  end if;

  if p_new_pids is not null then
    insert into reeve.process (pid, version, revision, fence, holder, carry, due, kind, target, name, parent, root,
        session, wake_target, created_at, ended_at, end_status, label_signature, definition_signature, placement, moving)
      select pid, 1, revision, fence, holder, carry, due, kind, target, name, parent, root,
        session, wake_target, created_at, ended_at, end_status, label_signature, definition_signature, placement, moving
      from unnest(p_new_pids, p_new_revisions, p_new_fences, p_new_holders, p_new_carries, p_new_dues, p_new_kinds,
        p_new_targets, p_new_names, p_new_parents, p_new_roots, p_new_sessions, p_new_wake_targets,
        p_new_created_ats, p_new_ended_ats, p_new_end_statuses, p_new_label_signatures, p_new_definition_signatures,
        p_new_placements, string_to_array(p_new_moving, E'\x1e'))
        as n (pid, revision, fence, holder, carry, due, kind, target, name, parent, root,
          session, wake_target, created_at, ended_at, end_status, label_signature, definition_signature, placement, moving);
    -- After the insert: a transaction that prunes this pid has committed by now, or the insert would still wait for it.
    if exists (select from reeve.tombstone where pid = any (p_new_pids)) then
      raise exception 'A new process has the pid of a pruned one' using errcode = 'RV001';
    end if;
  end if;
  if p_pids is not null then
    update reeve.process p set version = p.version + 1, revision = n.revision, fence = n.fence, holder = n.holder,
        carry = n.carry, due = n.due, session = n.session, wake_target = n.wake_target, ended_at = n.ended_at,
        end_status = n.end_status, moving = n.moving
      from unnest(p_pids, p_revisions, p_fences, p_holders, p_carries, p_dues, p_sessions, p_wake_targets, p_ended_ats,
        p_end_statuses, string_to_array(p_moving, E'\x1e'))
        as n (pid, revision, fence, holder, carry, due, session, wake_target, ended_at, end_status, moving)
      where p.pid = n.pid;
  end if;
  if p_lease_pids is not null then
    update reeve.process p set version = p.version + 1, fence = n.fence, holder = n.holder, carry = n.carry, due = n.due
      from unnest(p_lease_pids, p_lease_fences, p_lease_holders, p_lease_carries, p_lease_dues)
        as n (pid, fence, holder, carry, due)
      where p.pid = n.pid;
  end if;
  if p_rest is not null then
    v_pruned := reeve.apply_rest(p_rest::json);
  end if;

  -- The counter is updated last, and its lock lasts until the commit. So positions are committed in order, and a reader
  -- of the feed never sees one before a lower one. The same holds for the positions of notices.
  if v_events > 0 or p_notice_pids is not null or v_pruned is not null then
    update reeve.meta m set position = m.position + v_events, live = m.live + p_live,
        pruned_through = greatest(m.pruned_through, v_pruned)
      returning m.position, m.authority_epoch into v_position, v_epoch;
  elsif p_epoch is not null or p_authority is not null or p_audit_ats is not null then
    select m.authority_epoch into v_epoch from reeve.meta m for no key update;
  end if;
  -- The counters are locked, so the epoch cannot change before the commit.
  if v_epoch <> p_epoch then
    raise exception 'A rule set has changed' using errcode = 'RV003';
  end if;
  if v_position is not null then
    insert into reeve.event (position, pid, seq, type, at, actor, replay_key, payload)
      select v_position - v_events + ordinality, pid, seq, type, at, actor, replay_key, payload
      from unnest(p_event_pids, p_event_seqs, p_event_types, p_event_ats, p_event_actors, p_event_keys,
        string_to_array(p_event_payloads, E'\x1e'))
        with ordinality as n (pid, seq, type, at, actor, replay_key, payload, ordinality);
    if p_notice_pids is not null then
      insert into reeve.notice (scope, pid, seq, kind, at, payload, reply_to)
        select scope, pid, seq, kind, at, payload, reply_to
        from unnest(p_notice_scopes, p_notice_pids, p_notice_seqs, p_notice_kinds, p_notice_ats,
          string_to_array(p_notice_payloads, E'\x1e'), string_to_array(p_notice_reply_tos, E'\x1e'))
          as n (scope, pid, seq, kind, at, payload, reply_to);
    end if;
  end if;

  if p_audit_ats is not null then
    perform reeve.append_audit(p_audit_ats, p_audit_counts, p_audit_texts);
  end if;
  if p_authority is not null then
    perform reeve.apply_authority(p_authority::json);
  end if;

  perform reeve.finish_commit(p_store, p_fence, p_commit, p_channel, v_position);
  position := v_position;
end
$body$;
