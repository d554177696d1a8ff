-- The paths that agents hold, one row per host.

create table lien (
  host text primary key,
  body text not null
) without rowid;
