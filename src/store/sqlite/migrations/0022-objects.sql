-- The names of objects in the namespace of their process, each with the events that give it a meaning: a version, a handle, or its
-- release. `target` is the process of the object that a live handle shows. A revoked handle stays while its tree does.

create table object (
  process integer not null,
  name text not null,
  seq integer not null,
  target text,
  primary key (process, name, seq)
) strict, without rowid;
create index object_target on object (target) where target is not null;

create table revocation (
  handle text primary key,
  root text not null,
  body text not null
) strict, without rowid;
create index revocation_tree on revocation (root);
