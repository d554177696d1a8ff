-- Appends links to the chain of the audit: the hash of each is that of the hash before it, followed by its text. A link has
-- `p_counts` entries, and the position of the last of them. The caller has locked the counters. Texts are joined by the record
-- separator.
create or replace function reeve.append_audit(p_ats bigint[], p_counts bigint[], p_texts text) returns void language plpgsql as
$body$
declare
  v_texts text[] := string_to_array(p_texts, E'\x1e');
  v_positions bigint[] := '{}';
  v_hashes text[] := '{}';
  v_position bigint;
  v_hash text;
begin
  select m.audit_position, m.audit_hash into v_position, v_hash from reeve.meta m;
  for i in 1 .. cardinality(v_texts) loop
    v_position := v_position + p_counts[i];
    v_positions := v_positions || v_position;
    v_hash := encode(sha256(convert_to(v_hash || v_texts[i], 'UTF8')), 'hex');
    v_hashes := v_hashes || v_hash;
  end loop;
  insert into reeve.audit (position, at, body, hash)
    select position, at, body, hash from unnest(v_positions, p_ats, v_texts, v_hashes) as n (position, at, body, hash);
  update reeve.meta set audit_position = v_position, audit_hash = v_hash;
end
$body$;
