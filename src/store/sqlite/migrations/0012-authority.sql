-- Rule sets, approvals, uses of rules, and the audit. `meta.authority_epoch` is raised by every commit that changes a rule set;
-- rule sets in memory are valid for one epoch. `meta.audit_position` and `meta.audit_hash` are the end of the audit's chain,
-- `meta.audit_start` is the last entry that retention has removed.

create table rule_set (
  subject text primary key,
  body text not null
) strict, without rowid;

create table rule_use (
  id text primary key,
  subject text not null,
  used integer not null
) strict, without rowid;
create index rule_use_subject on rule_use (subject);

create table approval (
  place integer primary key autoincrement,
  id text not null unique,
  pid text not null,
  state text not null,
  person text,
  expires_at integer,
  push_at integer,
  body text not null
) strict;
create index approval_state on approval (state);
create index approval_pid on approval (pid);
create index approval_expiry on approval (expires_at) where state = 'pending' and expires_at is not null;
create index approval_push on approval (push_at) where state = 'pending' and push_at is not null;

create table audit (
  position integer primary key,
  at integer not null,
  body text not null,
  hash text not null
) strict;

create table audit_window (
  key text primary key,
  opened_at integer not null,
  body text not null
) strict, without rowid;
create index audit_window_age on audit_window (opened_at);

alter table meta add column authority_epoch integer not null default 0;
alter table meta add column audit_position integer not null default 0;
alter table meta add column audit_hash text not null default '';
alter table meta add column audit_start text;
