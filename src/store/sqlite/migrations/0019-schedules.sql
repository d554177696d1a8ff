-- Definitions of processes that run at certain times. `open`: the next occurrence has still to be registered.

create table schedule (
  id text primary key,
  open integer not null,
  body text not null
) without rowid;
create index schedule_open on schedule (id) where open = 1;
