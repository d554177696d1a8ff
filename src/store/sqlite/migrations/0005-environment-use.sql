-- Which actor uses which environment: an environment is removed with its last use. Existing environments stay.

create table environment_use (
  id integer primary key,
  used_by text not null,
  ref text not null,
  unique (used_by, ref)
) strict;
create index environment_use_ref on environment_use (ref);
insert into environment_use (used_by, ref) select 'host', ref from environment;
