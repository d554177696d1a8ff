-- Which actor uses which environment: an environment is removed with its last use. Existing environments stay.

create table reeve.environment_use (
  id bigint generated always as identity primary key,
  used_by text collate "C" not null,
  ref text collate "C" not null,
  unique (used_by, ref)
);
create index environment_use_ref on reeve.environment_use (ref);
insert into reeve.environment_use (used_by, ref) select 'host', ref from reeve.environment;
