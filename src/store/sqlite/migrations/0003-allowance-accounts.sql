-- What processes and sessions may use, and have used. A table of its own, so that a charge is a small write. The use of an
-- `open` account is not yet part of another account; sums are made of open accounts.

create table account (
  id text primary key,
  root text,
  session text,
  open integer not null,
  body text not null
) strict, without rowid;
create index account_root on account (root, id) where open = 1;
create index account_session on account (session, id) where open = 1;
