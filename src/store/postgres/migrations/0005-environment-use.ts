/** Who uses which environment: it goes with its last use. Those that are there already stay. */
export const sql = (at: string) => `
create table ${at}environment_use (
  id bigint generated always as identity primary key,
  used_by text collate "C" not null,
  ref text collate "C" not null,
  unique (used_by, ref)
);
create index environment_use_ref on ${at}environment_use (ref);
insert into ${at}environment_use (used_by, ref) select 'host', ref from ${at}environment;
`
