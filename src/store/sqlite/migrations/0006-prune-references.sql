-- `reference` lists the processes that records of live processes name, so that none of them is pruned. Indexes find the live
-- members of a tree, old tombstones, and the notices of a process.

create table reference (
  pid text not null,
  referrer text not null,
  primary key (pid, referrer)
) strict, without rowid;
insert or ignore into reference
  select named, pid from (
    select process.pid,
      case when json_valid(event.payload) then json_extract(event.payload, '$.restartOf') end as named
    from process join event on event.process = process.id and event.seq = 1 where process.ended_at is null
  ) where named is not null;
insert or ignore into reference
  select json_extract(waits.value, '$.name'), process.pid
  from process, json_each(case when json_valid(process.moving) then json_insert(
    coalesce(json_extract(process.moving, '$.moreWaits'), '[]'), '$[#]', json(json_extract(process.moving, '$.wait')))
    else '[]' end) as waits
  where process.ended_at is null and waits.type = 'object' and json_extract(waits.value, '$.on') = 'child';

create index process_tree_live on process (root) where parent is not null and ended_at is null;
create index tombstone_age on tombstone (pruned_at);
drop index notice_source;
create unique index notice_source on notice (process, seq, scope, kind);
