-- The names of objects in the namespace of their process, each with the events that give it a meaning: a version, a handle, or its
-- release. `target` is the process of the object that a live handle shows. A revoked handle stays while its tree does. A commit
-- compares revocations like liens, and locks them after liens.

create table reeve.object (
  pid text collate "C" not null,
  name text collate "C" not null,
  seq bigint not null,
  target text collate "C",
  primary key (pid, name, seq)
);
create index object_target on reeve.object (target) where target is not null;

create table reeve.revocation (
  handle text collate "C" primary key,
  root text collate "C" not null,
  version bigint not null,
  body text not null
);
create index revocation_tree on reeve.revocation (root);
