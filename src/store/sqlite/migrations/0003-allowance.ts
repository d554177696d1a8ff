/**
 * What processes and sessions may use, and have used. Not part of a process's row: a charge is a small write of its own.
 * `open` are those whose use is part of no other account yet; sums are made of these.
 */
export const sql = `
create table account (
  id text primary key,
  root text,
  session text,
  open integer not null,
  body text not null
) strict, without rowid;
create index account_root on account (root, id) where open = 1;
create index account_session on account (session, id) where open = 1;
`
