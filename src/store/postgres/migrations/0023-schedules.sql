-- Definitions of processes that run at certain times. A commit compares them like accounts, and locks them after windows of the
-- audit and before holders. `open`: the next occurrence has still to be registered.

create table reeve.schedule (
  id text collate "C" primary key,
  version bigint not null,
  open boolean not null,
  body text not null
);
create index schedule_open on reeve.schedule (id) where open;
