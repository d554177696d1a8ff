-- The most frequent commit by far, with little overhead: one process is new (version 0) or changed, with its own events,
-- and nothing else was read. One statement compares and changes the row. Returns null if the row has changed since it
-- was read. `p_epoch` and the entries for the audit are as in commit_changes.
create or replace function reeve.commit_one(
  p_store text, p_fence bigint, p_commit bigint, p_channel text,
  p_pid text, p_version bigint, p_revision bigint, p_process_fence bigint, p_holder text, p_carry text, p_due bigint,
  p_session text, p_wake_target text, p_ended_at bigint, p_end_status text, p_moving text,
  p_kind text, p_target text, p_name text, p_parent text, p_root text, p_created_at bigint,
  p_label_signature bigint, p_definition_signature bigint, p_placement text,
  p_live bigint, p_event_types text[], p_event_ats bigint[], p_event_actors text[], p_event_keys text[], p_event_payloads text,
  p_announced text, p_epoch bigint, p_audit_ats bigint[], p_audit_counts bigint[], p_audit_texts text
) returns bigint language plpgsql as
$body$
declare
  v_position bigint;
  v_epoch bigint;
  v_events integer := cardinality(p_event_types);
  v_payloads text[];
begin
  if p_version > 0 then
    update reeve.process p set version = p.version + 1, revision = p_revision, fence = p_process_fence, holder = p_holder,
        carry = p_carry, due = p_due, session = p_session, wake_target = p_wake_target, ended_at = p_ended_at,
        end_status = p_end_status, moving = p_moving
      where p.pid = p_pid and p.version = p_version;
    if not found then
      return null;
    end if;
  else
    if p_announced is not null then
      perform from reeve.holder h where h.id = p_announced for key share;
      if not found then
        return null;
      end if;
    end if;
    insert into reeve.process (pid, version, revision, fence, holder, carry, due, kind, target, name, parent, root,
        session, wake_target, created_at, ended_at, end_status, label_signature, definition_signature, placement, moving)
      values (p_pid, 1, p_revision, p_process_fence, p_holder, p_carry, p_due, p_kind, p_target, p_name, p_parent, p_root,
        p_session, p_wake_target, p_created_at, p_ended_at, p_end_status, p_label_signature, p_definition_signature,
        p_placement, p_moving);
    if exists (select from reeve.tombstone t where t.pid = p_pid) then
      raise exception 'A new process has the pid of a pruned one' using errcode = 'RV001';
    end if;
  end if;
  update reeve.meta m set position = m.position + v_events, live = m.live + p_live
    returning m.position, m.authority_epoch into v_position, v_epoch;
  if v_epoch <> p_epoch then
    raise exception 'A rule set has changed' using errcode = 'RV003';
  end if;
  if v_events = 1 then
    insert into reeve.event (position, pid, seq, type, at, actor, replay_key, payload)
      values (v_position, p_pid, p_revision, p_event_types[1], p_event_ats[1], p_event_actors[1], p_event_keys[1],
        p_event_payloads);
  else
    v_payloads := string_to_array(p_event_payloads, E'\x1e');
    for i in 1 .. v_events loop
      insert into reeve.event (position, pid, seq, type, at, actor, replay_key, payload)
        values (v_position - v_events + i, p_pid, p_revision - v_events + i, p_event_types[i], p_event_ats[i],
          p_event_actors[i], p_event_keys[i], v_payloads[i]);
    end loop;
  end if;
  if p_audit_ats is not null then
    perform reeve.append_audit(p_audit_ats, p_audit_counts, p_audit_texts);
  end if;
  perform reeve.finish_commit(p_store, p_fence, p_commit, p_channel, v_position);
  return v_position;
end
$body$;
