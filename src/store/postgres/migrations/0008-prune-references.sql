-- `reference` lists the processes that records of live processes name, so that none of them is pruned. Indexes find the live
-- members of a tree, and old tombstones. Texts are searched rather than parsed: a text that is not JSON must not fail the
-- migration.

create table reeve.reference (
  pid text collate "C" not null,
  referrer text collate "C" not null,
  primary key (pid, referrer)
);
insert into reeve.reference
  select found.named[1], p.pid
  from reeve.process p join reeve.event e on e.pid = p.pid and e.seq = 1,
    regexp_matches(e.payload, '"restartOf":"(p_[0-9a-z]{12})"') as found (named)
  where p.ended_at is null
  on conflict do nothing;
insert into reeve.reference
  select found.named[1], p.pid
  from reeve.process p, regexp_matches(p.moving, '"on":"child","name":"(p_[0-9a-z]{12})"', 'g') as found (named)
  where p.ended_at is null
  on conflict do nothing;

create index process_tree_live on reeve.process (root) where parent is not null and ended_at is null;
create index tombstone_age on reeve.tombstone (pruned_at);
