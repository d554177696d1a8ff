/**
 * `reference` has the processes that the records of live processes name, so that none of them is pruned. The live members of
 * a tree, and old tombstones, are found without a look at the rest. Texts are searched rather than parsed: one that is no
 * JSON must not keep the others from being migrated.
 */
export const sql = (at: string) => `
create table ${at}reference (
  pid text collate "C" not null,
  referrer text collate "C" not null,
  primary key (pid, referrer)
);
insert into ${at}reference
  select found.named[1], p.pid
  from ${at}process p join ${at}event e on e.pid = p.pid and e.seq = 1,
    regexp_matches(e.payload, '"restartOf":"(p_[0-9a-z]{12})"') as found (named)
  where p.ended_at is null
  on conflict do nothing;
insert into ${at}reference
  select found.named[1], p.pid
  from ${at}process p, regexp_matches(p.moving, '"on":"child","name":"(p_[0-9a-z]{12})"', 'g') as found (named)
  where p.ended_at is null
  on conflict do nothing;

create index process_tree_live on ${at}process (root) where parent is not null and ended_at is null;
create index tombstone_age on ${at}tombstone (pruned_at);
`
