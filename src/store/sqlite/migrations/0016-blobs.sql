-- Content under its hash. `size` is null until all parts are there. A row of `blob` is small, so that its time can be renewed
-- without a write of the content. A blob without a reference is swept, the oldest `put_at` first.

create table blob (
  hash text primary key,
  put_at integer not null,
  size integer
) strict, without rowid;
create index blob_age on blob (put_at, hash);

create table blob_part (
  hash text not null,
  number integer not null,
  bytes blob not null,
  primary key (hash, number)
) strict;

create trigger blob_gone after delete on blob begin
  delete from blob_part where hash = old.hash;
end;

create table blob_reference (
  process integer not null,
  hash text not null,
  primary key (process, hash)
) strict, without rowid;
create index blob_referrer on blob_reference (hash);
