-- Definitions of processes that start when something happens, and what happened to each. `waits`: a delivery that is not to be
-- pruned.

create table trigger_definition (
  id text primary key,
  body text not null
) without rowid;

create table delivery (
  pid text primary key,
  trigger_id text not null,
  number integer not null,
  waits integer not null,
  body text not null
) without rowid;
create unique index delivery_number on delivery (trigger_id, number);
