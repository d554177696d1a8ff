/**
 * What processes and sessions may use, and have used, as SQLite has it. An account is compared like an inbox: `kind` account
 * in what is guarded, locked after inboxes and before holders.
 */
export const sql = (at: string) => `
create table ${at}account (
  id text collate "C" primary key,
  version bigint not null,
  root text collate "C",
  session text collate "C",
  open boolean not null,
  body text not null
);
create index account_root on ${at}account (root, id) where open;
create index account_session on ${at}account (session, id) where open;
`
