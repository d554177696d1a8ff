-- Writes which process refers to which blob. Fails if a blob is not there. The lock keeps a sweep from deleting the blob before
-- the commit. Parts are [{pid, hash}], or null.
create or replace function reeve.change_blob_references(p_removed json, p_added json) returns void language plpgsql as
$body$
declare
  v_missing text[];
begin
  if p_removed is not null then
    delete from reeve.blob_reference r
      using json_to_recordset(p_removed) as x (pid text, hash text) join reeve.process p on p.pid = x.pid
      where r.process = p.id and r.hash = x.hash;
  end if;
  if p_added is null then
    return;
  end if;
  select array_agg(distinct x.hash) into v_missing
    from json_to_recordset(p_added) as x (pid text, hash text)
    left join lateral
      (select b.size from reeve.blob b where b.hash = x.hash and b.size is not null for key share) b on true
    where b.size is null;
  if v_missing is not null then
    raise exception 'A blob is not there' using errcode = 'RV004', detail = to_json(v_missing)::text;
  end if;
  insert into reeve.blob_reference (process, hash)
    select p.id, x.hash from json_to_recordset(p_added) as x (pid text, hash text) join reeve.process p on p.pid = x.pid
    on conflict (process, hash) do nothing;
end
$body$;
