-- Deletes the blobs without a reference of one page: those after a key that were put before a time, at most `p_limit`, and about
-- `p_bytes` in all. Returns their number and the last key of the page, null if there is none.
create or replace function reeve.sweep_blobs(
  p_after_at bigint, p_after_hash text, p_before bigint, p_limit integer, p_bytes bigint,
  out deleted bigint, out last_at bigint, out last_hash text
) language plpgsql as
$body$
#variable_conflict use_column
declare
  v_hashes text[];
begin
  deleted := 0;
  select put_at, hash into last_at, last_hash from (
    select put_at, hash, sum(coalesce(size, 0)) over (order by put_at, hash) - coalesce(size, 0) as bytes from (
      select put_at, hash, size from reeve.blob
        where put_at <= p_before and (put_at, hash) > (p_after_at, p_after_hash)
        order by put_at, hash limit p_limit
    ) as page
  ) as summed where bytes < p_bytes order by put_at desc, hash desc limit 1;
  if last_hash is null then
    return;
  end if;
  -- One statement that deletes and looks for references would not see those of a commit that it waited for. A blob that a commit
  -- or a put has locked is left for the next sweep.
  select array_agg(hash) into v_hashes from (
    select b.hash from reeve.blob b
      where (b.put_at, b.hash) > (p_after_at, p_after_hash) and (b.put_at, b.hash) <= (last_at, last_hash)
        and not exists (select from reeve.blob_reference r where r.hash = b.hash)
      for update of b skip locked
  ) as locked;
  -- Sees every reference that was committed before the locks were taken; none can be added while they are held.
  with gone as (
    delete from reeve.blob b
      where b.hash = any (v_hashes) and not exists (select from reeve.blob_reference r where r.hash = b.hash)
      returning b.hash
  ), parts as (
    delete from reeve.blob_part p using gone where p.hash = gone.hash
  ) select count(*) into deleted from gone;
end
$body$;
