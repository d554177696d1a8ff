-- Stores a part of a blob, and begins the age of the blob again. The last part has the size of the whole, and makes the blob
-- available: false if an earlier part has been swept meanwhile. The lock on the row of the blob keeps a sweep away.
create or replace function reeve.put_blob_part(p_hash text, p_number integer, p_bytes bytea, p_size bigint) returns boolean
language plpgsql as
$body$
begin
  insert into reeve.blob (hash, put_at) values (p_hash, reeve.now_ms())
    on conflict (hash) do update set put_at = excluded.put_at;
  insert into reeve.blob_part (hash, number, bytes) values (p_hash, p_number, p_bytes)
    on conflict (hash, number) do nothing;
  if p_size is null then
    return true;
  end if;
  update reeve.blob b set size = p_size
    where b.hash = p_hash
      and (select sum(octet_length(p.bytes)) from reeve.blob_part p where p.hash = p_hash) = p_size;
  return found;
end
$body$;
