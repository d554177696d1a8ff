-- Content under its hash. `size` is null until all parts are there. A row of `blob` is small, so that its time can be renewed
-- without a write of the content. A blob without a reference is swept, the oldest `put_at` first.

create table reeve.blob (
  hash text collate "C" primary key,
  put_at bigint not null,
  size bigint
);
create index blob_age on reeve.blob (put_at, hash);

create table reeve.blob_part (
  hash text collate "C" not null,
  number integer not null,
  bytes bytea not null,
  primary key (hash, number)
);

create table reeve.blob_reference (
  process bigint not null,
  hash text collate "C" not null,
  primary key (process, hash)
);
create index blob_referrer on reeve.blob_reference (hash);
