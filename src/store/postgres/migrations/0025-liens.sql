-- The paths that agents hold, one row per host. A commit compares them like schedules, and locks them after schedules.

create table reeve.lien (
  host text collate "C" primary key,
  version bigint not null,
  body text not null
);
