-- What processes and sessions may use, and have used. A commit compares an account like an inbox: `kind` account among the
-- guards, locked after inboxes and before holders.

create table reeve.account (
  id text collate "C" primary key,
  version bigint not null,
  root text collate "C",
  session text collate "C",
  open boolean not null,
  body text not null
);
create index account_root on reeve.account (root, id) where open;
create index account_session on reeve.account (session, id) where open;
