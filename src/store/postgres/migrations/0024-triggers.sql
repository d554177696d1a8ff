-- Definitions of processes that start when something happens, and what happened to each. A commit compares and locks triggers, then
-- deliveries, after schedules and before holders. `waits`: a delivery that is not to be pruned.

create table reeve.trigger_definition (
  id text collate "C" primary key,
  version bigint not null,
  body text not null
);

create table reeve.delivery (
  pid text collate "C" primary key,
  version bigint not null,
  trigger_id text collate "C" not null,
  number bigint not null,
  waits boolean not null,
  body text not null
);
create unique index delivery_number on reeve.delivery (trigger_id, number);
